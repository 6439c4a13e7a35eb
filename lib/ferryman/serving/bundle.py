"""Bundles: a record as a file, with its SHA-256; read strictly, and compared with the result of a replay."""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from ferryman.catalog.tools import FINDERS, RECALLERS
from ferryman.domain.executions.execution import Step
from ferryman.domain.executions.message import canonicalize_prompt, digest_prompt
from ferryman.domain.records.record import Record
from ferryman.replay import ReplayResult
from ferryman.serving import record_values
from ferryman.serving.api.shapes import record as shapes
from ferryman.serving.api.shapes.fault import describe_first_fault

FORMAT = "ferryman.bundle/1"
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
NOT_COMPARED = ("slice", "cancel_requested", "deadline")
"""Fields that a replay may reach in another way: the count of deliveries, what stopped it, and how long a call may take."""


class UnreadableBundleError(ValueError):
    """The text is not a bundle; the message names the first place that is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A record, the document it was read from, and whether that still has the digest it was written with."""

    record: Record
    document: Mapping[str, Any] = field(repr=False)
    intact: bool = True


def write_bundle(document: Mapping[str, Any]) -> str:
    """Return the record `document`, as the API answers it, as a bundle."""
    return json.dumps({"format": FORMAT, "sha256": _digest(document), "record": document}, indent=1) + "\n"


def read_bundle(text: str) -> Bundle:
    """Return the bundle that `text` holds. Raise `UnreadableBundleError`, also for a field that a record does not have."""
    try:
        bundle = json.loads(text)
    except ValueError as error:
        raise UnreadableBundleError(f"the file is not JSON ({error})") from None
    if not isinstance(bundle, dict) or bundle.get("format") != FORMAT or set(bundle) != {"format", "sha256", "record"}:
        raise UnreadableBundleError(f"the file is no bundle of format {FORMAT}")
    return replace(parse_record(bundle["record"]), intact=bundle["sha256"] == _digest(bundle["record"]))


def parse_record(document: Any) -> Bundle:
    """Return the record that the API's answer holds. Raise `UnreadableBundleError`."""
    try:
        response = shapes.RecordResponse.model_validate_json(json.dumps(document))
        record = record_values.build_record(response)
        if not _ID.fullmatch(record.execution.id):
            raise ValueError("the execution's id is not one")
    except ValidationError as error:
        raise UnreadableBundleError(f"record.{describe_first_fault(error)}") from None
    except (ValueError, TypeError) as error:
        raise UnreadableBundleError(f"the record contradicts itself: {error}") from None
    again = response.model_dump(mode="json", exclude_unset=True)
    if again != document:
        raise UnreadableBundleError("the record is not as this version writes it:\n" + "\n".join(_diff(document, again)))
    return Bundle(record=record, document=document)


def find_differences(bundle: Bundle, replayed: ReplayResult) -> list[str]:
    """Return the differences between `bundle` and its replay, as lines of diffs; none where they are the same to the byte."""
    differences = [] if bundle.intact else ["the bundle was changed since it was written: it no longer has its digest"]
    record = bundle.record
    for step, prompt in zip(record.steps, replayed.prompts, strict=False):
        prompt_bytes = canonicalize_prompt(prompt.system, prompt.tools, prompt.messages)
        if digest_prompt(prompt_bytes) != step.prompt_digest:
            differences += _diff_turn(record, step, prompt_bytes)
    replayed_document = shapes.to_response(replayed.record).model_dump(mode="json", exclude_unset=True)
    differences += _diff(_comparable(bundle.document), _comparable(replayed_document), "the rest of the record")
    return differences


def _diff_turn(record: Record, step: Step, replayed: bytes) -> Iterator[str]:
    assert record.opening is not None
    recorded = canonicalize_prompt(record.opening.system, *record.build_prompt(step, finders=FINDERS, recallers=RECALLERS))
    digest = digest_prompt(replayed)
    yield f"turn {step.number}: the model was asked something else (recorded {step.prompt_digest}, replayed {digest})"
    if recorded == replayed:
        yield "  the replay asks what the record tells: the record itself was changed since"
    yield from _diff(json.loads(recorded), json.loads(replayed), f"turn {step.number}: system, tools, messages")


def _comparable(source: Mapping[str, Any]) -> Any:
    document = copy.deepcopy(dict(source))
    for part in (document["execution"], *document["steps"], *document["calls"]):
        for name in NOT_COMPARED:
            part.pop(name, None)
    document["ledger"].sort(key=lambda entry: entry["id"])
    return document


def _diff(recorded: Any, other: Any, title: str = "record") -> list[str]:
    before, after = (json.dumps(document, indent=1, sort_keys=True).splitlines() for document in (recorded, other))
    return list(difflib.unified_diff(before, after, f"recorded: {title}", f"replayed: {title}", lineterm="", n=2))


def _digest(document: Any) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
