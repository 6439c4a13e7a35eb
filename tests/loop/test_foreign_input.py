"""What a client writes is untrusted: in the input of a task and in a message, nothing of it decides where an effect goes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.labels.label import READ
from ferryman.inmemory.model import ScriptedModel
from tests.loop.conftest import Stage, says
from tests.loop.test_chat import Chat, chat  # noqa: F401 - a fixture
from tests.loop.test_flow import GIST, OTHER, post, run


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.parametrize(("is_from_client", "asks"), [(True, True), (False, False)])
async def test_an_address_in_the_input_decides_only_where_a_person_wrote_it(
    stage: Stage, is_from_client: bool, asks: bool
) -> None:
    stage.start(input=f"Post to {OTHER}.", is_from_client=is_from_client)
    (ticket,) = await run(stage, post(OTHER))
    assert ticket.flow is not None
    assert ticket.flow.asks is asks


async def test_an_address_in_the_owners_prompt_decides_whatever_a_client_wrote(stage: Stage) -> None:
    stage.start(input=f"Post to {OTHER}.", is_from_client=True)
    (ticket,) = await run(stage, post(GIST))
    assert ticket.flow is not None
    assert ticket.flow.asks is False


@pytest.mark.parametrize(("is_from_client", "origin"), [(True, UrlOrigin.UNSEEN), (False, UrlOrigin.WRITTEN)])
async def test_a_url_in_the_input_is_fetched_only_where_a_person_wrote_it(
    stage: Stage, is_from_client: bool, origin: UrlOrigin
) -> None:
    stage.start(input="Look at https://pages.example/a.", is_from_client=is_from_client)
    fetch = says("", ("web_fetch", {"url": "https://pages.example/a"}))
    (ticket,) = await run(stage, fetch, tools=("web_fetch",))
    assert ticket.url_origin is origin


async def test_a_message_of_a_client_stays_untrusted_when_a_person_asks_for_another_answer(chat: Chat) -> None:  # noqa: F811
    fields = {"tools": ("http_post",), "integrations": ("github",)}
    chat.task(**fields)
    first = await chat.ask(f"Post to {OTHER}.", label=READ)
    await chat.answer(first, post(OTHER), says("Done."))
    again = await chat.ask("", again=1)
    chat.memory.executions[again] = replace(chat.memory.executions[again], input=f"Post to {OTHER}.")
    chat.model = ScriptedModel([])
    await chat.answer(again, post(OTHER), says("Done."))
    for execution in (first, again):
        flow = chat.memory.tickets[execution][0].flow
        assert flow is not None
        assert flow.asks is True
