"""What is otherwise in a tool's descriptor than in the one that was accepted, field by field, as a person reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.approvals.visible import show_name, show_text

FIELDS_MAX = 200
CUT = "⟨cut⟩"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field that differs: where it is, and what it was and is, each None where the field was or is not there.

    All of it can be shown on a terminal: what hides or reorders text is its code point.
    """

    field: str
    before: str | None
    after: str | None


def compare_descriptors(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldDifference, ...]:
    """Return what differs, by the path of the fields: the innermost ones of objects, lists as a whole.

    What models read comes first. Of more than `FIELDS_MAX` the last one says how many are not shown. No text is cut, since a
    change may be at its end: those of a descriptor are bounded together (`descriptor.DESCRIPTOR_BYTES_MAX`).
    """
    old, new = _flatten(before), _flatten(after)
    paths = [*old, *(path for path in new if path not in old)]
    differing = [path for path in paths if old.get(path, _ABSENT) != new.get(path, _ABSENT)]
    differing.sort(key=lambda path: path[:1] not in _READ_BY_MODELS)
    changes = [
        FieldDifference(field=_show_path(path), before=_show(old.get(path, _ABSENT)), after=_show(new.get(path, _ABSENT)))
        for path in differing[:FIELDS_MAX]
    ]
    if len(differing) > FIELDS_MAX:
        changes.append(FieldDifference(field=CUT, before=None, after=f"{len(differing) - FIELDS_MAX} more fields differ"))
    return tuple(changes)


class _Absent:
    """What is not there; no value of JSON is."""


_ABSENT = _Absent()
_READ_BY_MODELS = (("description",), ("inputSchema",))

Path = tuple[str, ...]
"""The names that lead to a field. A name may have a full stop: no two paths become one."""

Leaf = tuple[bool, str]
"""Whether a value is a text, and the text or the JSON of it: 1, 1.0 and "1" are three values."""


def _flatten(value: Mapping[str, Any]) -> dict[Path, Leaf]:
    leaves: dict[Path, Leaf] = {}
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, inner = stack.pop()
        if isinstance(inner, Mapping) and inner:
            stack.extend(reversed([((*path, str(name)), member) for name, member in inner.items()]))
        else:
            leaves[path] = (True, inner) if isinstance(inner, str) else (False, json.dumps(inner, sort_keys=True))
    return leaves


def _show_path(path: Path) -> str:
    return ".".join(show_name(name).replace(".", "⟨U+002E⟩") for name in path)


def _show(leaf: Leaf | _Absent) -> str | None:
    return None if isinstance(leaf, _Absent) else show_text(leaf[1])
