"""One call, judged from plain texts: what a worker process is given, and what the call's ticket keeps of the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.flow.judging import FlowContext, judge_flow, trusts_result
from ferryman.domain.flow.records import NamedRecord, index_records, list_records
from ferryman.domain.flow.signature import FlowSignature
from ferryman.domain.flow.trusted import TrustedText, index_text
from ferryman.domain.flow.verdict import list_lines
from ferryman.domain.labels.label import READ, FlowLabel, Source

INDEXES_KEPT = 16
"""How many indexes of texts that people wrote a process keeps: each call of an execution is judged by the same."""

INDEX_CHARACTERS_MAX = 10_000
"""The index of a longer text is not kept: a worker has little memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """A result that the model has read: of which tool, of the call with which number, its texts, and which are JSON.

    `arguments` are those of the call, and `label` is theirs; `ok` tells whether it did what it was asked.
    """

    tool: str
    call: int
    texts: tuple[str, ...] = field(repr=False)
    documents: tuple[str, ...] = field(default=(), repr=False)
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    label: FlowLabel = READ
    ok: bool = True

    @property
    def source(self) -> str:
        """What it is, for who reads why."""
        return f"the result of call {self.call} ({self.tool})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallToJudge:
    """A call and all that it is judged by; `written` are the texts of people, each with what it is.

    `readers` are the signatures of the tools whose results people alone wrote.
    """

    signature: FlowSignature
    arguments: Mapping[str, Any] = field(repr=False)
    label: FlowLabel
    written: tuple[tuple[str, str], ...] = field(repr=False)
    read: tuple[ReadResult, ...] = field(default=(), repr=False)
    readers: Mapping[str, FlowSignature] = field(default_factory=dict, repr=False)

    def measure(self) -> int:
        """Return how many characters have to be read."""
        return sum(len(text) for _, text in self.written) + sum(len(text) for result in self.read for text in result.texts)


def judge_call(call: CallToJudge) -> CallFlow:
    """Return whether a call waits for a person, and the tree that says what decided where it goes."""
    context = FlowContext(
        label=call.label,
        trusted=_list_trusted(call),
        read=[(result.source, text) for result in call.read for text in result.texts],
        records=index_records(record for result in call.read for record in _list_records(result)),
    )
    verdict = judge_flow(call.signature, call.arguments, context)
    return CallFlow(asks=verdict.asks, reason=verdict.reason.value, lines=tuple(list_lines(verdict)))


def _list_trusted(call: CallToJudge) -> list[TrustedText]:
    """Return what people wrote, with the results that are trusted by what was trusted before them (`trusts_result`)."""
    trusted = [_index_written(source, text) for source, text in call.written]
    for result in call.read:
        signature = call.readers.get(result.tool) if result.ok else None
        if signature is None:
            continue
        if trusts_result(signature, result.arguments, FlowContext(label=result.label, trusted=tuple(trusted))):
            trusted += [index_text(result.source, text) for text in result.texts]
    return trusted


def _index_written(source: str, text: str) -> TrustedText:
    return _index_once(source, text) if len(text) <= INDEX_CHARACTERS_MAX else index_text(source, text)


_index_once = lru_cache(maxsize=INDEXES_KEPT)(index_text)


def _list_records(result: ReadResult) -> Iterator[NamedRecord]:
    for document in result.documents:
        try:
            value = json.loads(document)
        except (ValueError, RecursionError):
            continue
        yield from list_records(value, Source(tool=result.tool, call=result.call))
