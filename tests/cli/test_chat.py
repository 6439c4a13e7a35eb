"""`ferryman chat` without a service: how an answer is printed, and a conversation written as Markdown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.cli.chat_markdown import write_markdown
from ferryman.cli.chat_screen import AnswerScreen, describe_result
from ferryman.cli.screen import Screen
from ferryman.client import AnswerEvent

from .conftest import Typed

DONE = {"type": "done", "state": "complete", "content": "At 23:00.", "credits": "1.5"}
CALL = {"type": "tool_call", "id": "tc_1", "name": "web_fetch", "arguments": {"url": "https://x.test"}}
RESULT = {"type": "tool_result", "toolCallId": "tc_1", "name": "web_fetch", "success": True, "result": [1, 2]}


def write(text: str) -> dict[str, Any]:
    return {"type": "content", "iteration": 1, "content": text}


def show(capsys: pytest.CaptureFixture[str], *bodies: dict[str, Any], as_json: bool = False) -> tuple[str, str]:
    with AnswerScreen(Screen(as_json=as_json)) as screen:
        for number, body in enumerate(bodies):
            screen.print_event(AnswerEvent(id=str(number), kind=body["type"], body=body))
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_a_pipe_gets_the_text_alone(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = show(capsys, write("At "), write("23:00."), CALL, {**RESULT, "resultPreview": "Found 2 results"}, DONE)
    assert out == "At 23:00.\n"
    assert err.splitlines() == ['→ web_fetch {"url": "https://x.test"}', "← Found 2 results (6 characters)"]


def test_a_program_gets_every_event_as_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = show(capsys, write("At 23:00."), CALL, DONE, as_json=True)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(line["position"], line["type"]) for line in lines] == [("0", "content"), ("1", "tool_call"), ("2", "done")]
    assert (lines[1]["id"], err) == ("tc_1", "")


def test_nothing_that_the_model_writes_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = show(capsys, write("\x1b[2Jgone\u202e"), DONE)
    assert out == "·[2Jgone·\n"


def test_a_turn_that_is_replaced_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = show(capsys, write("key"), {"type": "replace", "iteration": 1}, write("[redacted]"), DONE)
    assert out == "key[redacted]\n"
    assert "is replaced by what follows" in err


def test_a_failed_answer_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = show(capsys, {"type": "error", "error": "no credits are left"})
    assert "no credits are left" in err


def test_a_failed_call_says_so() -> None:
    assert describe_result({**RESULT, "success": False, "error": "HTTP 500"}) == ("← failed: HTTP 500", "yellow")


def message(number: int, role: str, content: str | None, **fields: Any) -> dict[str, Any]:
    at = "2026-11-22T09:00:00Z"
    nothing = {"attachments": [], "toolCalls": [], "toolResults": [], "messages": [], "metadata": None}
    return {"number": number, "role": role, "content": content, "created_at": at, **nothing, **fields}


METADATA = {"state": "complete", "error": None}


def test_a_conversation_is_written_with_its_calls_folded() -> None:
    call = {"id": "tc_1", "name": "web_fetch", "arguments": {"url": "https://x.test"}}
    result = {"role": "tool", "toolCallId": "tc_1", "content": '"```\\n# no heading"'}
    turns = [{"role": "assistant", "content": "I look.", "toolCalls": [call]}, result]
    answer = message(2, "assistant", "At 23:00.", messages=turns, toolResults=[result], metadata=METADATA)
    text = write_markdown("Ferries", [message(1, "user", "When?", attachments=[{"key": "a`b.md"}]), answer])
    assert text.startswith("# Ferries\n\n## 1. You, 2026-11-22 09:00\n\nAttached: `a·b.md`\n\nWhen?\n\n## 2. Agent")
    assert "<details><summary>web_fetch</summary>" in text
    assert '````\n"```\\n# no heading"\n````' in text
    assert text.index("I look.") < text.index("<details>") < text.index("At 23:00.")


def test_an_answer_without_words_says_what_became_of_it() -> None:
    stopped = {"state": "stopped", "error": None}
    text = write_markdown("", [message(2, "assistant", None, metadata=stopped)])
    assert "*no answer: stopped*" in text
    assert text.startswith("# Conversation\n")


def test_an_empty_pipe_is_nothing_to_say(typed: Typed) -> None:
    refused = typed("chat", "-", stdin="")
    assert (refused.exit_code, "there is nothing to say" in refused.output) == (2, True)


def test_a_conversation_that_is_not_there_is_refused(typed: Typed) -> None:
    refused = typed("chat", "-", "--conversation", "conv_none", stdin="Hello")
    assert (refused.exit_code, "there is no such conversation" in refused.output) == (5, True)


def test_a_conversation_is_exported(typed: Typed) -> None:
    exported = typed("chat", "--conversation", "conv_ann", "--export")
    assert (exported.exit_code, exported.output.startswith("# Ferries\n")) == (0, True)
    assert "At 23:00." in exported.output


def test_a_message_that_is_refused_says_which_field_is_wrong(typed: Typed) -> None:
    refused = typed("chat", "-", "--conversation", "conv_ann", stdin="Hello")
    assert (refused.exit_code, "model: is required: neither the task nor its agent names one" in refused.output) == (5, True)


def test_files_that_are_not_there_are_refused(typed: Typed) -> None:
    words = ("chat", "-", "--conversation", "conv_ann", "--model", "scripted/x", "--file", "none.md")
    refused = typed(*words, stdin="Hello")
    assert (refused.exit_code, "attachments.0: is no file of this workspace" in refused.output) == (5, True)


def test_conversations_are_listed(typed: Typed) -> None:
    listed = typed("chat", "--list")
    assert (listed.exit_code, "conv_ann" in listed.output, "Ferries" in listed.output) == (0, True, True)
    assert json.loads(typed("chat", "--list", "--json").output.splitlines()[-1])["conversation_id"] == "conv_ann"


def test_a_title_by_the_model_steers_neither_a_terminal_nor_a_document() -> None:
    assert write_markdown("\x1b[2J<img src=x>\n# Ferries", []) == "# ·[2J&lt;img src=x> # Ferries\n"
