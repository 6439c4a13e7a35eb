"""Turns with blocks of any type: they are stored as they came and go back as they are; a paused turn goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ferryman.domain.executions.execution import Status
from ferryman.domain.records.event import derive_events
from ferryman.domain.records.record import Record
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import KEY, at_rest, says
from tests.loop.test_scan import keyed  # noqa: F401 - a fixture

THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"}
ENCRYPTED = {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rain"}}
FUTURE = {"type": "dream", "scenes": [[1, [2.5]], {"a": None}]}
USE = ("http_get", {"url": "https://api.coingecko.com/1"})


def thinks(*blocks: dict[str, Any], text: str = "", calls: tuple[Any, ...] = (), stop: str | None = None) -> Any:
    """Return a reply that begins with these blocks."""
    reply = says(text, *calls, stop=stop)
    return replace(reply, content=(*blocks, *reply.content))


def get_assistant_turns(stage: Any, prompt: int = -1) -> list[Any]:
    """Return the contents of the model's turns in a prompt, as they are sent."""
    messages = [json.loads(message) for message in stage.model.prompts[prompt].encode_messages()]
    return [message["content"] for message in messages if message["role"] == "assistant"]


async def test_a_turns_blocks_go_back_unchanged_and_in_their_order(stage: Any) -> None:
    reply = thinks(THOUGHT, ENCRYPTED, FUTURE, text="I look.", calls=(USE,))
    await stage.run(reply, says("done"))
    assert get_assistant_turns(stage) == [[*reply.content]]
    assert stage.execution.status is Status.COMPLETED


async def test_they_go_back_the_same_from_the_journal(stage: Any) -> None:
    reply = thinks(THOUGHT, FUTURE, calls=(USE,))
    await stage.run(reply, UnavailableError("busy"))
    await stage.run(says("done"))
    assert get_assistant_turns(stage, 0) == [[*reply.content]]


async def test_the_turns_event_shows_the_thinking(stage: Any) -> None:
    await stage.run(thinks(THOUGHT, text="done"))
    events = [*derive_events(stage.execution, [*stage.memory.steps["e"].values()], {})]
    assert (events[1].body["text"], events[1].body["thinking"]) == ("done", "Let me see.")


async def test_the_event_of_a_turn_without_thinking_is_as_it_was(stage: Any) -> None:
    await stage.run(says("done"))
    events = [*derive_events(stage.execution, [*stage.memory.steps["e"].values()], {})]
    assert "thinking" not in events[1].body


async def test_thinking_is_no_part_of_the_output(stage: Any) -> None:
    await stage.run(thinks(THOUGHT, text="done"))
    assert stage.execution.output == "done"


async def test_a_paused_turn_is_sent_back_and_goes_on(stage: Any) -> None:
    await stage.run(thinks(SEARCH, stop="pause_turn"), says("done"))
    messages = stage.model.prompts[1].messages
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[1]["content"] == [SEARCH]
    assert (stage.execution.status, stage.execution.output, stage.execution.iterations) == (Status.COMPLETED, "done", 2)


async def test_a_paused_turn_goes_on_from_the_journal_as_the_record_says(stage: Any) -> None:
    await stage.run(says("", USE), thinks(SEARCH, stop="pause_turn"), says("", USE), says("done"))
    steps, tickets = [*stage.memory.steps["e"].values()], [*stage.memory.tickets["e"].values()]
    record = Record(execution=stage.execution, opening=stage.memory.openings["e"], steps=steps, tickets=tickets, entries=())
    roles = [message["role"] for message in record.build_prompt(steps[-1], finders=())[1]]
    assert roles == ["user", "assistant", "user", "assistant", "assistant", "user"]
    assert record.build_prompt(steps[-1], finders=())[1] == list(stage.model.prompts[-1].messages)


async def test_a_turn_that_is_always_paused_ends_with_the_iterations(stage: Any) -> None:
    stage.task(max_iterations=3)
    await stage.run(*[thinks(SEARCH, stop="pause_turn")] * 4)
    assert (stage.execution.status, len(stage.model.prompts)) == (Status.COMPLETED, 4)
    assert stage.model.prompts[-1].closing


async def test_a_pause_without_content_is_the_end(stage: Any) -> None:
    await stage.run(says("", stop="pause_turn"))
    assert stage.execution.status is Status.COMPLETED


async def test_thoughts_that_the_key_holder_left_out_are_not_stored_and_their_number_is_logged(keyed: Any) -> None:  # noqa: F811
    keyed.on_scan = lambda content: [block for block in content if "signature" not in block]
    await keyed.run(thinks({**THOUGHT, "thinking": KEY}, text="I look.", calls=(USE,)), says("done"))
    assert get_assistant_turns(keyed)[0][0] == {"type": "text", "text": "I look."}
    assert [fields["blocks"] for event, fields in keyed.log.lines if event == "turn.withheld"] == [1]
    assert KEY not in str(at_rest(keyed))
