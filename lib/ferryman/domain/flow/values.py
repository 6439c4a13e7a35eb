"""Values that are handed on without the model reading them: they keep the label of what they were read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.json_tree import map_leaves
from ferryman.domain.labels.label import FlowLabel, join

REFERENCE = "$from"
"""The one name of an object that refers to a value: `{"$from": {"call": 3, "path": ["0", "id"]}}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowValue:
    """A value with the label of what it was read from, whatever the label of the conversation."""

    value: Any = field(repr=False)
    label: FlowLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueReference:
    """A reference to a part of the result of a call, by the names and indexes that lead to it; `pass` hands it on."""

    call: int
    path: tuple[str, ...] = ()


def read_reference(value: Any) -> ValueReference | None:
    """Return the reference that a JSON value is; None where it is none."""
    inner = value.get(REFERENCE) if isinstance(value, Mapping) and len(value) == 1 else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("call"), int) or isinstance(inner["call"], bool):
        return None
    path = inner.get("path", [])
    if not isinstance(path, list | tuple) or not set(inner) <= {"call", "path"}:
        return None
    return ValueReference(call=inner["call"], path=tuple(map(str, path)))


def resolve_reference(reference: ValueReference, results: Mapping[int, FlowValue]) -> FlowValue | None:
    """Return what a reference refers to, with the label of the whole result; None where there is no such part."""
    result = results.get(reference.call)
    if result is None:
        return None
    value = result.value
    for step in reference.path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list | tuple) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return FlowValue(value=value, label=result.label)


def label_extracted(value: Any, sources: Iterable[FlowLabel]) -> FlowValue:
    """Return what a quarantined model read out of texts with the labels `sources`: it has their join."""
    return FlowValue(value=value, label=join(sources))


def drop_labels(arguments: Any) -> Any:
    """Return arguments as they are sent, every value in its place and without its label."""
    return map_leaves(arguments, lambda leaf: drop_labels(leaf.value) if isinstance(leaf, FlowValue) else leaf)
