"""`pass`: a call whose arguments refer to results, which take the place of the references with the labels that they have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.flow.values import REFERENCE, FlowValue, ValueReference, drop_labels, read_reference, resolve_reference
from ferryman.domain.json_tree import is_too_deep, walk
from ferryman.domain.labels.label import FlowLabel

DEPTH_MAX = 20
REFERENCES_MAX = 20
"""How many references the arguments of one call may hold."""

ARGUMENTS_BYTES_MAX = 200_000
"""How long the arguments of a call are, as JSON, once values took the place of references: its ticket is one document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedCall:
    """A call that `pass` makes: of which tool, with which arguments, and whether the model reads its result."""

    tool: str
    arguments: Mapping[str, Any] = field(repr=False)
    show: bool = False


def read_passed(arguments: Mapping[str, Any], *, name: str, barred: Iterable[str]) -> PassedCall:
    """Return the call that the arguments of the tool `name` ask for, of none of the tools in `barred`.

    Raise `CallRefusedError`.
    """
    for unknown in arguments.keys() - {"tool", "arguments", "show"}:
        raise CallRefusedError(refusal.refuse_unknown_argument(name, unknown, ("tool", "arguments", "show")))
    tool, inner, show = arguments.get("tool"), arguments.get("arguments", {}), arguments.get("show", False)
    if not isinstance(tool, str):
        raise CallRefusedError(refusal.refuse_wrong_argument(name, "tool", "the name of a tool"))
    if not isinstance(inner, Mapping):
        raise CallRefusedError(refusal.refuse_wrong_argument(name, "arguments", "an object"))
    if not isinstance(show, bool):
        raise CallRefusedError(refusal.refuse_wrong_argument(name, "show", "true or false"))
    if tool in barred:
        raise CallRefusedError(refusal.refuse_wrong_argument(name, "tool", f"another tool than {' and '.join(barred)}"))
    return PassedCall(tool=tool, arguments=inner, show=show)


def resolve_arguments(arguments: Mapping[str, Any], find: Callable[[int], FlowValue | None]) -> dict[str, Any]:
    """Return arguments with a `FlowValue` in the place of every reference; `find` returns the result of a call.

    What a value holds is never read as a reference. Raise `CallRefusedError`.
    """
    if is_too_deep(arguments, DEPTH_MAX):
        raise CallRefusedError(refusal.refuse_passing(f"arguments may be nested at most {DEPTH_MAX} deep"))
    references = list(_list_references(arguments))
    if len(references) > REFERENCES_MAX:
        raise CallRefusedError(refusal.refuse_passing(f"a call may have at most {REFERENCES_MAX} references"))
    resolved = {name: _resolve(value, find) for name, value in arguments.items()}
    if len(json.dumps(drop_labels(resolved)).encode()) > ARGUMENTS_BYTES_MAX:
        most = f"{ARGUMENTS_BYTES_MAX:,} bytes as JSON"
        raise CallRefusedError(refusal.refuse_passing(f"the arguments are more than {most} with the values referred to"))
    return resolved


def list_labels(value: Any) -> Iterator[FlowLabel]:
    """Yield the labels of the values in arguments."""
    for _, inner in walk(value):
        if isinstance(inner, FlowValue):
            yield inner.label


def attach_labels(labelled: Any, scanned: Any) -> Any:
    """Return `scanned`, which is `labelled` without labels and after a scan, with the labels in their places."""
    if isinstance(labelled, FlowValue):
        return FlowValue(value=scanned, label=labelled.label)
    if isinstance(labelled, Mapping) and isinstance(scanned, Mapping):
        return {name: attach_labels(labelled.get(name), value) for name, value in scanned.items()}
    if isinstance(labelled, list | tuple) and isinstance(scanned, list | tuple) and len(labelled) == len(scanned):
        return [attach_labels(*pair) for pair in zip(labelled, scanned, strict=True)]
    return scanned


def _list_references(arguments: Any) -> Iterator[ValueReference]:
    for _, value in walk(arguments):
        if isinstance(value, Mapping) and set(value) == {REFERENCE}:
            yield _read(value)


def _read(value: Any) -> ValueReference:
    reference = read_reference(value)
    if reference is None:
        form = '{"$from": {"call": 3, "path": ["name", 0]}}'
        raise CallRefusedError(refusal.refuse_passing(f"a reference is an object like {form}"))
    return reference


def _resolve(value: Any, find: Callable[[int], FlowValue | None]) -> Any:
    if isinstance(value, Mapping):
        if set(value) != {REFERENCE}:
            return {name: _resolve(inner, find) for name, inner in value.items()}
        reference = _read(value)
        result = find(reference.call)
        value = None if result is None else resolve_reference(reference, {reference.call: result})
        if value is None:
            raise CallRefusedError(refusal.refuse_reference(reference.call))
        return value
    return [_resolve(inner, find) for inner in value] if isinstance(value, list | tuple) else value
