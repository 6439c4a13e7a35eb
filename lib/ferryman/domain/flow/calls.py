"""One call, judged from plain texts: what a worker process is given, and what the call's ticket keeps of the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls.flow import LINES_MAX, CallFlow
from ferryman.domain.flow.judging import FlowContext, judge_flow
from ferryman.domain.flow.records import NamedRecord, index_records, list_records
from ferryman.domain.flow.signature import FlowSignature
from ferryman.domain.flow.trusted import index_text
from ferryman.domain.flow.verdict import list_lines
from ferryman.domain.labels.label import FlowLabel, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """A result that the model has read: of which tool, of the call with which number, as it was read, and the JSON in it."""

    tool: str
    call: int
    text: str = field(repr=False)
    documents: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallToJudge:
    """A call and all that it is judged by; `written` are the texts of people, each with what it is."""

    signature: FlowSignature
    arguments: Mapping[str, Any] = field(repr=False)
    label: FlowLabel
    written: tuple[tuple[str, str], ...] = field(repr=False)
    read: tuple[ReadResult, ...] = field(default=(), repr=False)

    def measure(self) -> int:
        """Return how many characters have to be read."""
        return sum(len(text) for _, text in self.written) + sum(len(result.text) for result in self.read)


def judge_call(call: CallToJudge) -> CallFlow:
    """Return whether a call waits for a person, and the tree that says what decided where it goes."""
    context = FlowContext(
        label=call.label,
        trusted=[index_text(source, text) for source, text in call.written],
        read=[(f"the result of call {result.call} ({result.tool})", result.text) for result in call.read],
        records=index_records(record for result in call.read for record in _list_records(result)),
    )
    verdict = judge_flow(call.signature, call.arguments, context)
    return CallFlow(asks=verdict.asks, reason=verdict.reason.value, lines=tuple(list_lines(verdict)[:LINES_MAX]))


def _list_records(result: ReadResult) -> Iterator[NamedRecord]:
    for document in result.documents:
        try:
            value = json.loads(document)
        except (ValueError, RecursionError):
            continue
        yield from list_records(value, Source(tool=result.tool, call=result.call))
