"""Bundles: a record as a file. Written with a digest of itself, read back strictly, compared with what a replay came to."""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from ferryman.domain.call import Ticket, ToolCallResult
from ferryman.domain.execution import Execution, Opening, Step
from ferryman.domain.ledger import Entry, Posting
from ferryman.domain.message import canonical, digest
from ferryman.domain.plan import Plan
from ferryman.domain.record import Record
from ferryman.domain.remit import Remit
from ferryman.domain.usage import Usage
from ferryman.serving.api.shapes import record as shapes
from ferryman.serving.api.shapes.shape import Answered
from ferryman.wiring.replay import Replayed

Value = TypeVar("Value")

FORMAT = "ferryman.bundle/1"
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
OWN_WAY = ("slice", "cancel_requested", "deadline")
"""Fields a replay reaches in its own way: how often it was handed over, what stopped it, and how long a call may take."""


class Unreadable(ValueError):  # noqa: N818 - reads as the fact it states
    """The text is not a bundle; the message says where it stops being one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A record, the document it was read from, and whether that still has the digest it was written with."""

    record: Record
    document: Mapping[str, Any] = field(repr=False)
    intact: bool = True


def write(document: Mapping[str, Any]) -> str:
    """The record `document`, as the API answers it, as a bundle."""
    return json.dumps({"format": FORMAT, "sha256": _digest(document), "record": document}, indent=1) + "\n"


def read(text: str) -> Bundle:
    """The bundle that `text` holds. Raises `Unreadable`, also for a field that a record does not have."""
    try:
        bundle = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"the file is not JSON ({error})") from None
    if not isinstance(bundle, dict) or bundle.get("format") != FORMAT or set(bundle) != {"format", "sha256", "record"}:
        raise Unreadable(f"the file is no bundle of format {FORMAT}")
    return replace(of_document(bundle["record"]), intact=bundle["sha256"] == _digest(bundle["record"]))


def of_document(document: Any) -> Bundle:
    """The record that the API's answer holds. Raises `Unreadable`."""
    try:
        shown = shapes.RecordShown.model_validate_json(json.dumps(document))
        record = _record(shown)
        if not _ID.fullmatch(record.execution.id):
            raise ValueError("the execution's id is not one")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Unreadable(f"record.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, TypeError) as error:
        raise Unreadable(f"the record contradicts itself: {error}") from None
    again = shown.model_dump(mode="json")
    if again != document:
        raise Unreadable("the record is not as this version writes it:\n" + "\n".join(_diff(document, again)))
    return Bundle(record=record, document=document)


def differences(bundle: Bundle, replayed: Replayed) -> list[str]:
    """What a replay of `bundle` did otherwise, as lines of diffs; none when it did the same, byte for byte."""
    found = [] if bundle.intact else ["the bundle was changed since it was written: it does not have its digest any more"]
    record = bundle.record
    for step, prompt in zip(record.steps, replayed.prompts, strict=False):
        asked = canonical(prompt.system, prompt.tools, prompt.messages)
        if digest(asked) != step.prompt_digest:
            found += _of_turn(record, step, asked)
    came_to = shapes.shown(replayed.record).model_dump(mode="json")
    found += _diff(_comparable(bundle.document), _comparable(came_to), "the rest of the record")
    return found


def _of_turn(record: Record, step: Step, asked: bytes) -> Iterator[str]:
    assert record.opening is not None
    told = canonical(record.opening.system, record.opening.tools, record.messages(step))
    yield f"turn {step.number}: the model was asked something else (recorded {step.prompt_digest}, replayed {digest(asked)})"
    if told == asked:
        yield "  the replay asks what the record tells: the record itself was changed since"
    yield from _diff(json.loads(told), json.loads(asked), f"turn {step.number}: system, tools, messages")


def _comparable(given: Mapping[str, Any]) -> Any:
    document = copy.deepcopy(dict(given))
    for part in (document["execution"], *document["steps"], *document["calls"]):
        for name in OWN_WAY:
            part.pop(name, None)
    document["ledger"].sort(key=lambda entry: entry["id"])
    return document


def _diff(one: Any, other: Any, title: str = "record") -> list[str]:
    before, after = (json.dumps(each, indent=1, sort_keys=True).splitlines() for each in (one, other))
    return list(difflib.unified_diff(before, after, f"recorded: {title}", f"replayed: {title}", lineterm="", n=2))


def _digest(document: Any) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _record(shown: shapes.RecordShown) -> Record:
    remit, said = shown.remit, shown.execution
    owner = "" if remit is None else remit.owner
    execution = _same(
        Execution,
        said,
        id=said.execution_id,
        task=said.task_id,
        owner=owner,
        usage=_same(Usage, said.usage),
        tool_calls=tuple(_same(ToolCallResult, each) for each in said.tool_calls),
        remit=None if remit is None else _same(Remit, remit, plan=_same(Plan, remit.plan)),
    )
    about = {"execution": execution.id, "owner": owner, "task": execution.task}
    return Record(
        execution=execution,
        opening=None if shown.opening is None else _same(Opening, shown.opening),
        steps=tuple(_same(Step, each, usage=_same(Usage, each.usage)) for each in shown.steps),
        tickets=tuple(
            _same(
                Ticket,
                each,
                step=each.iteration,
                call=each.id,
                arguments=b"",
                shown=each.arguments,
                epoch=0,
                result=None if each.result is None else _same(ToolCallResult, each.result),
            )
            for each in shown.calls
        ),
        entries=tuple(
            _same(Entry, each, postings=tuple(_same(Posting, posting) for posting in each.postings), **about)
            for each in shown.ledger
        ),
    )


def _same(kind: type[Value], shape: Answered, **others: Any) -> Value:
    """A `kind` with the fields that `shape` has under the same names, and `others`."""
    names = {each.name for each in fields(kind)} & set(type(shape).model_fields) - set(others)  # type: ignore[arg-type] # kinds are dataclasses
    return kind(**{name: getattr(shape, name) for name in names}, **others)
