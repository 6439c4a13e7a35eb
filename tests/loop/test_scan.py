"""The model's output is scanned before it is stored."""

from __future__ import annotations

import pytest

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import KNOWN
from ferryman.domain.http.request import Method
from ferryman.domain.tools.declared import DeclaredTool, Exchange, Extract, TokenExchange, build_cluster
from ferryman.inmemory.clock import START
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.loop.preamble import RULES
from tests.builders import build_label
from tests.loop.conftest import KEY, at_rest, redacted, says


@pytest.fixture
def keyed(stage):
    """A task with a credential whose value is the key, and a key holder that knows it."""
    label = build_label(name="KEY", service="coingecko", hosts=())
    sealed = SealedCredential(label=label, ciphertext=b"", key_version=1, created_at=START, updated_at=START)
    stage.memory.credentials["t"] = {"KEY": sealed}
    stage.on_scan = redacted
    return stage


def everything_at_rest(stage) -> str:
    return str(at_rest(stage))


async def test_a_key_in_the_final_text_does_not_come_to_rest(keyed):
    await keyed.run(says(f"the key is {KEY}"))
    assert keyed.execution.output == "the key is [redacted:KEY]"
    assert KEY not in everything_at_rest(keyed)


async def test_a_key_in_the_arguments_comes_to_rest_sealed_only(keyed):
    await keyed.run(says("", ("http_get", {"url": f"https://a.test/{KEY}"})), says("done"))
    assert keyed.executed[0].arguments == b'sealed:{"url": "https://a.test/' + KEY.encode() + b'"}'
    assert keyed.memory.tickets["e"][0].display_arguments == {"url": "https://a.test/[redacted:KEY]"}
    assert KEY not in everything_at_rest(keyed)


async def test_a_ticket_notes_that_the_model_wrote_a_credential_into_its_arguments(keyed):
    calls = [("http_get", {"url": f"https://a.test/{KEY}"}), ("http_get", {"url": "https://a.test/"})]
    await keyed.run(says("", *calls), says("done"))
    assert [keyed.memory.tickets["e"][number].redacted for number in (0, 1)] == [True, False]


async def test_the_model_reads_its_own_words_in_the_form_that_came_to_rest(keyed):
    await keyed.run(says("", ("http_get", {"url": f"https://a.test/{KEY}"})), says("done"))
    assert KEY not in str(keyed.model.prompts[1].messages)


async def test_a_key_pasted_into_the_prompt_does_not_reach_the_model(keyed):
    keyed.task(task_prompt=f"Use {KEY}.", system_prompt=f"The key is {KEY}.")
    await keyed.run(says("done"))
    prompt = keyed.model.prompts[0]
    assert KEY not in prompt.system
    assert prompt.messages[0]["content"] == "Use [redacted:KEY]."


async def test_the_prompts_and_each_reply_are_scanned_for_their_execution(keyed):
    await keyed.run(says("done"))
    opening = keyed.memory.openings["e"]
    texts = [{"type": "text", "text": opening.system.removeprefix(f"{RULES}\n")}, {"type": "text", "text": opening.prompt}]
    assert [list(content) for content in keyed.scanned] == [texts, [{"type": "text", "text": "done"}]]
    assert keyed.scanned_for == ["e", "e"]


async def test_the_names_of_the_credentials_are_told_and_nothing_else_of_them(keyed):
    await keyed.run(says("done"))
    assert "Credentials available by name: KEY." in keyed.model.prompts[0].system


async def test_a_key_in_an_unknown_tools_name_does_not_come_to_rest(keyed):
    await keyed.run(says("", (KEY, {})), says("done"))
    assert KEY not in everything_at_rest(keyed)
    assert KEY not in str(keyed.model.prompts[1].messages)


async def test_a_task_without_credentials_has_nothing_to_look_for(stage):
    await stage.run(says("done"))
    assert stage.scanned == []


LOGIN = TokenExchange(request=Exchange(url="https://auth.example.com/t"), extract=Extract(token_path="$.token"))


@pytest.fixture
def fetching(stage):
    """A task without credentials whose one declared tool fetches a token, and a key holder that knows the token."""
    declared = (DeclaredTool(name="probe", method=Method.GET, url="https://api.coingecko.com/", auth=LOGIN),)
    stage.memory.clusters["t"] = {"": (build_cluster("", 1, declared), declared)}
    stage.on_scan = redacted
    return stage


async def test_what_the_model_says_is_scanned_where_tokens_can_be_fetched(fetching):
    fetching.task(task_prompt=f"Was it {KEY}?")
    await fetching.run(says(f"it is {KEY}", ("probe", {"a": KEY})), says(f"it was {KEY}"))
    assert fetching.execution.output == "it was [redacted:KEY]"
    assert KEY not in everything_at_rest(fetching)


async def test_what_the_model_says_is_scanned_where_a_credential_was_deleted_within_the_day(keyed):
    await MemoryCredentials(keyed.memory).delete("t", "KEY", now=START)
    await keyed.run(says(f"it was {KEY}"))
    assert KEY not in everything_at_rest(keyed)


async def test_a_credential_that_was_deleted_a_day_ago_is_nothing_to_look_for(keyed):
    await MemoryCredentials(keyed.memory).delete("t", "KEY", now=START - KNOWN)
    await keyed.run(says("done"))
    assert keyed.scanned == []
