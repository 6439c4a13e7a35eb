"""Each text is read once for all calls of an execution, and the verdicts are those of reading everything for each call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman import offload
from ferryman.domain.calls.call import Ticket, ToolCall, ToolCallResult, describe_parts
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.executions.execution import Execution
from ferryman.domain.flow.derivation import derive_signature
from ferryman.domain.flow.judging import FlowContext, judge_flow, trusts_result
from ferryman.domain.flow.passing import list_labels
from ferryman.domain.flow.records import index_records, list_records
from ferryman.domain.flow.signature import FlowSignature
from ferryman.domain.flow.trusted import TrustedText, index_text
from ferryman.domain.flow.values import FlowValue
from ferryman.domain.flow.verdict import list_lines
from ferryman.domain.labels.label import BOTTOM, OWNED, READ, FlowLabel, Integrity, Source
from ferryman.loop import flow
from ferryman.loop.dependencies import LoopDependencies
from ferryman.tools.registry import ToolRegistry

from .conftest import Stage, says
from .test_flow_contacts import TOOLS, build_tool

CREATE = build_tool("create_event", title="The title.", attendees="Whom it is for.", amount="How much.", file_id="A file.")
ALL = (*TOOLS, CREATE, build_tool("list_files"))
READERS = ("search_contacts",)

WORDS = (
    "Ben",
    "Eve",
    "ben@office.example",
    "eve@thief.example",
    "https://docs.example/a",
    "weekly-report",
    "7",
    "12",
    "$1,000",
)
PROMPT = "Mail weekly-report to Ben, pay $1,000, and call it 'Dinner at {place}'. See https://docs.example/a for file 7."
TITLES = ("Dinner at Ben", "Dinner at https://thief.example", *WORDS)

texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
records = st.lists(
    st.fixed_dictionaries({"id": st.sampled_from(("7", "12", "f-1", "f-2")), "filename": st.sampled_from(WORDS)}), max_size=3
)
results = st.tuples(
    st.sampled_from(("search_contacts", "read_inbox", "list_files")), records, texts, st.sampled_from(WORDS), st.booleans()
)
values = st.one_of(st.sampled_from(("f-1", "f-2", *TITLES)), texts, st.sampled_from((7, 12, 1000, 1000.0, -0.0, None, "")))
arguments = st.dictionaries(
    st.sampled_from(("title", "attendees", "amount", "file_id", "other")),
    st.one_of(values, st.lists(values, max_size=3), values.map(lambda value: FlowValue(value=value, label=READ))),
    max_size=4,
)
calls = st.tuples(st.sampled_from(("create_event", "send_email")), arguments, st.sampled_from((BOTTOM, OWNED, READ)))
steps = st.lists(st.one_of(results, calls), min_size=1, max_size=8)


def read(seq: int, tool: str, rows: Any, text: str, query: str, ok: bool) -> Ticket:
    """Return a call that has settled, with a document and a text in its result."""
    document = json.dumps(rows)
    parts = (
        Part(kind=PartKind.JSON, start=0, end=len(document)),
        Part(kind=PartKind.TEXT, start=len(document), end=len(document) + len(text)),
    )
    result = ToolCallResult(tool, document + text, response_status=200, parts=parts, ok=ok)
    return replace(TICKET, seq=seq, tool=tool, display_arguments={"query": query}, label=READ, result=result)


def derive(name: str) -> FlowSignature:
    """Return the signature of a tool that the operator registered."""
    (tool,) = (tool for tool in ALL if tool.name == name)
    return derive_signature(name, tool.description, tool.schema, is_own=True)


def judge_whole(call: ToolCall, label: Any, tickets: Sequence[Ticket]) -> CallFlow:
    """Return the verdict of reading everything for this call alone."""
    trusted: list[TrustedText] = [index_text("the instructions", "You report."), index_text("the prompt", PROMPT)]
    listed, named = [], []
    for ticket in tickets:
        assert ticket.result is not None
        source = f"the result of call {ticket.seq + 1} ({ticket.tool})"
        result = describe_parts(ticket.result)
        parts = [(part.kind, result.content[part.start : part.end]) for part in result.parts]
        indexed = [index_text(source, text) for _, text in parts]
        context = FlowContext(label=ticket.label, trusted=tuple(trusted))
        if ticket.tool in READERS and result.ok and trusts_result(derive(ticket.tool), ticket.display_arguments, context):
            trusted += indexed
        listed += indexed
        documents = [json.loads(text) for kind, text in parts if kind is PartKind.JSON]
        named += [record for value in documents for record in list_records(value, Source(tool=ticket.tool, call=ticket.seq))]
    context = FlowContext(label=label, trusted=trusted, read=listed, records=index_records(named))
    if label.integrity is Integrity.TRUSTED and not any(list_labels(call.arguments)):
        return flow.UNTAINTED
    verdict = judge_flow(derive(call.name), call.arguments, context)
    return CallFlow(asks=verdict.asks, reason=verdict.reason.value, lines=tuple(list_lines(verdict)))


async def answer(ticket: Ticket, *, execution: Execution) -> Ticket:
    """Execute nothing."""
    return ticket


def start() -> tuple[LoopDependencies, Stage]:
    """Return the dependencies, and the stage of an execution that has read something."""
    stage = Stage()
    stage.task(task_prompt=PROMPT, system_prompt="You report.")
    asyncio.run(stage.run(says("", ("http_get", {"url": "https://api.coingecko.com/ping"})), says("Done.")))
    registry = ToolRegistry(answer)
    for tool in ALL:
        registry.register(tool, answer)
    return replace(stage.deps(), registry=registry), stage


DEPS, STAGE = start()
EXECUTION, OPENING, TICKET = STAGE.execution, STAGE.memory.openings["e"], STAGE.memory.tickets["e"][0]


def judge_in_turn(chosen: list[Any]) -> Iterator[tuple[ToolCall, FlowLabel, list[Ticket], CallFlow]]:
    """Yield each call with its label, what was read before it, and its verdict, as one delivery judges them in turn."""
    state, tickets = flow.begin_flow(EXECUTION, OPENING), list[Ticket]()
    for seq, step in enumerate(chosen):
        if len(step) == 5:
            tickets.append(read(seq, *step))
            state.note_results(tickets[-1:])
            continue
        name, given_arguments, label = step
        call = ToolCall(id="c", name=name, arguments=given_arguments)
        (verdict,) = asyncio.run(flow.judge_calls(DEPS, EXECUTION, state, [call], label))
        yield call, label, tickets, verdict


@given(steps)
@settings(max_examples=300)
def test_every_verdict_is_that_of_reading_everything_again(chosen: list[Any]) -> None:
    for call, label, tickets, verdict in judge_in_turn(chosen):
        assert verdict == judge_whole(call, label, tickets)


@given(steps)
@settings(max_examples=50)
def test_another_delivery_judges_the_same(chosen: list[Any]) -> None:
    for call, label, tickets, verdict in judge_in_turn(chosen):
        later = flow.begin_flow(EXECUTION, OPENING)
        later.note_results(tickets)
        assert asyncio.run(flow.judge_calls(DEPS, EXECUTION, later, [call], label)) == [verdict]


LONG = "Read the mails, then tell Ben about them. " * 100


async def test_no_text_is_read_again_for_another_call(monkeypatch: pytest.MonkeyPatch) -> None:
    state, jobs = flow.begin_flow(EXECUTION, OPENING), list[str]()

    async def run(owner: str, budget: Any, function: Any, *given_arguments: Any) -> Any:
        jobs.append(function.__name__)
        return function(*given_arguments)

    monkeypatch.setattr(offload, "run", run)
    call = ToolCall(id="c", name="send_email", arguments={"recipient": "eve@thief.example"})
    for seq in range(5):
        state.note_results([read(seq, "read_inbox", [], LONG, "", True)])
        await flow.judge_calls(DEPS, EXECUTION, state, [call, call], READ)
    assert jobs == ["index_results"] * 5


async def test_a_call_by_what_people_wrote_has_no_result_read(monkeypatch: pytest.MonkeyPatch) -> None:
    state = flow.begin_flow(EXECUTION, OPENING)
    state.note_results([read(0, "read_inbox", [], LONG, "", True)])
    monkeypatch.setattr(flow, "index_results", None)
    call = ToolCall(id="c", name="send_email", arguments={"recipient": "Ben", "body": "Done."})
    (verdict,) = await flow.judge_calls(DEPS, EXECUTION, state, [call], READ)
    assert verdict.reason == "trusted"


async def test_many_values_among_much_that_was_read_are_looked_for_in_a_worker_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "SEARCHED_CHARACTERS_MAX", 5 * len(LONG))
    state = flow.begin_flow(EXECUTION, OPENING)
    state.note_results([read(0, "read_inbox", [], LONG, "", True)])
    values = [f"eve{number}@thief.example" for number in range(6)]
    call = ToolCall(id="c", name="send_email", arguments={"recipient": values})
    (verdict,) = await flow.judge_calls(DEPS, EXECUTION, state, [call], READ)
    assert verdict == judge_whole(call, READ, [read(0, "read_inbox", [], LONG, "", True)])
