"""A bundle travels: it holds no key and no sealed byte, it is read strictly, and no byte of it changes unseen."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ferryman.cli import main
from ferryman.domain import key_shapes
from ferryman.domain.calls.call import ToolCallResult
from ferryman.replay import run_replay
from ferryman.serving import bundle
from tests.loop.conftest import fetches, says
from tests.replay.conftest import document

ROOT = Path(__file__).parents[2]
PATTERNS = {
    "a private key": "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE",
    "a Ferryman API key": "fm_" + "aB3_-" * 8 + "xyz",
    "an AWS access key": "AKIAIOSFODNN7EXAMPLE",
    "a GitHub token": "ghp_" + "a1B2" * 9,
    "a GitLab token": "glpat-" + "a1B2" * 5,
    "a Google key": "AIza" + "a1B2c" * 7,
    "a Slack token": "xoxb-123456789012-abcdef",
    "a Slack webhook": "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "a Discord webhook": "https://discord.com/api/webhooks/123456/" + "aB3_" * 17,
    "a key of the form sk-…": "sk-ant-" + "a1B2" * 6,
    "a signed token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLWl0",
}


async def finish_run(stage, answer="it's \\ ''' here"):
    """Return the record of a run with calls, one of them refused."""
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, answer, response_status=200)
    await stage.run(says("Let's see.", ("http_get", {"url": "https://a.test/"}), ("nothing", {})), fetches(), says("done"))
    return document(stage)


def test_every_form_of_key_has_a_pattern():
    assert set(PATTERNS) == set(key_shapes.SHAPES)


@pytest.mark.parametrize("form", PATTERNS)
async def test_text_in_the_form_of_a_key_is_named_with_its_place(stage, form):
    text = await finish_run(stage, f"before {PATTERNS[form]} after")
    assert ("record.calls[0].result.content", form) in key_shapes.find_secrets(text)


async def test_a_key_that_is_a_name_in_the_arguments_is_found(stage):
    text = await finish_run(stage)
    text["calls"][0]["arguments"]["headers"] = {PATTERNS["an AWS access key"]: "x"}
    assert key_shapes.find_secrets(text) == [("record.calls[0].arguments.headers (a name in it)", "an AWS access key")]


async def test_an_ordinary_record_is_free_of_keys(stage):
    assert key_shapes.find_secrets(await finish_run(stage)) == []


async def test_no_sealed_byte_is_in_a_bundle(stage):
    text = bundle.write_bundle(await finish_run(stage))
    assert all(ticket.arguments.startswith(b"sealed:") for ticket in stage.memory.tickets["e"].values())
    assert not re.search(r"sealed|cipher", text)


async def test_a_bundle_is_the_same_however_often_it_is_written(stage):
    text = await finish_run(stage)
    assert bundle.write_bundle(text) == bundle.write_bundle(bundle.read_bundle(bundle.write_bundle(text)).document)


async def test_no_byte_of_a_bundle_changes_unseen(stage):
    text = bundle.write_bundle(await finish_run(stage))
    whole = bundle.read_bundle(text)
    assert bundle.find_differences(whole, await run_replay(whole.record)) == []
    for place in range(0, len(text), 41):
        other = "7" if text[place] != "7" else "8"
        try:
            changed = bundle.read_bundle(text[:place] + other + text[place + 1 :])
        except bundle.UnreadableBundleError:
            continue
        assert not changed.intact, text[place - 20 : place + 20]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda text: text.update(ciphertext="AAAA"), "not as this version writes it"),
        (lambda text: text["calls"][0].update(sealed="AAAA"), "not as this version writes it"),
        (lambda text: text["steps"][0].pop("usage"), "record.steps.0.usage: Field required"),
        (lambda text: text.update(format="ferryman.record/9"), "record.format"),
        (lambda text: text["ledger"][0]["postings"].pop(), "the postings of an entry sum to zero"),
    ],
)
async def test_what_is_no_record_is_refused_with_the_place(stage, change, error):
    text = await finish_run(stage)
    change(text)
    with pytest.raises(bundle.UnreadableBundleError, match=error):
        bundle.read_bundle(bundle.write_bundle(text))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "ferryman.bundle/1"}'])
def test_what_is_no_bundle_is_refused(text):
    with pytest.raises(bundle.UnreadableBundleError):
        bundle.read_bundle(text)


@pytest.fixture
async def file(stage, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(bundle.write_bundle(await finish_run(stage)))
    return path


def ferryman(*arguments) -> tuple[int, str]:
    """Run `ferryman` where there is no stack."""
    ran = CliRunner().invoke(main, [str(argument) for argument in arguments], env={"FERRYMAN_DATA": "/nonexistent"})
    return ran.exit_code, ran.output


def test_a_file_replays_without_a_stack(file):
    code, out = ferryman("replay", file)
    assert (code, "the same to the byte: 3 turns, 3 calls, completed" in out) == (0, True)


def test_a_replay_tells_the_messages_to_programs(file):
    code, out = ferryman("replay", file, "--json")
    text = json.loads(out)
    assert (code, text["same"], [turn["same"] for turn in text["turns"]]) == (0, True, [True] * 3)
    assert text["messages"][1]["content"][0]["text"] == "Let's see."


def test_a_changed_byte_shows_as_a_diff_and_exit_code_1(file):
    file.write_text(file.read_text().replace("''' here", "''' hers"))
    code, out = ferryman("replay", file)
    assert (code, "the bundle was changed since it was written" in out) == (1, True)
    assert "the model was asked something else" in out


def test_a_file_that_is_no_bundle_exits_with_1(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    assert ferryman("replay", tmp_path / "x.json")[0] == 1


def test_a_file_becomes_a_test_that_passes_on_its_own(file, tmp_path):
    created = tmp_path / "test_made.py"
    assert ferryman("replay", file, "--as-test", "--output", created)[0] == 0
    changed = tmp_path / "test_changed.py"
    changed.write_text(created.read_text().replace("Let\\u0027s see.", "Let\\u0027s sea.", 1))
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", created, changed]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    # only what failed is listed by name
    assert ("1 failed, 1 passed" in ran.stdout, "test_changed.py::" in ran.stdout, "test_made.py::" in ran.stdout) == (
        True,
        True,
        False,
    )


def test_a_record_with_a_strangers_key_becomes_no_test(file):
    text = json.loads(file.read_text())["record"]
    text["opening"]["prompt"] = PATTERNS["a GitHub token"]
    file.write_text(bundle.write_bundle(text))
    code, out = ferryman("replay", file, "--as-test")
    assert (code, "record.opening.prompt: a GitHub token" in out) == (1, True)
