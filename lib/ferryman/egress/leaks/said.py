"""Said: the blocks of a model's turn in the form that may come to rest, whatever a credential in them is split over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ferryman.egress.leaks import walk
from ferryman.egress.leaks.redaction import emptied, mark

if TYPE_CHECKING:
    from ferryman.egress.leaks.scanner import Scanner

NARROWED_MAX = 16
"""A credential spread over a turn of more parts than this takes them all with it: finding out which would cost too much."""

# Whoever reads a turn puts some of its fields together and leaves out the others.
_TOGETHER = (("text",), ("input",), ("name",), ("id",), ("text", "input"), ("text", "name", "input"))


class Part(NamedTuple):
    """A field of a block that the model wrote."""

    block: int
    field: str


def said(content: Sequence[Mapping[str, Any]], scanner: Scanner) -> list[dict[str, Any]]:
    """`content` without credentials: as many blocks, of the same types, with the same fields, `input` always an object.

    What cannot be taken out of its place takes the whole text or input with it, and so does what is split over several.
    """
    blocks = [{field: _redacted(field, value, scanner) for field, value in block.items()} for block in content]
    for parts in dict.fromkeys(_selections(blocks)):
        _part(blocks, parts, scanner)
    return blocks


def _redacted(field: str, value: Any, scanner: Scanner) -> Any:
    if field == "input":
        return scanner.redact_json(dict(value) if isinstance(value, Mapping) else {"": value})
    return scanner.redact_json(str(value) if field in ("text", "name", "id") else value)


def _selections(blocks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Part, ...]]:
    """What may be read as one, beyond the single parts that have been redacted already."""
    for fields in _TOGETHER:
        parts = tuple(Part(number, field) for number, block in enumerate(blocks) for field in fields if field in block)
        if len(parts) > 1:
            yield parts


def _part(blocks: list[dict[str, Any]], parts: Sequence[Part], scanner: Scanner) -> None:
    """Empty those of `parts` that only together hold a credential, or all of them where it is in them more than once."""
    finding = scanner.among(_pieces(blocks, parts))
    if finding is None:
        return
    concerned = [
        part
        for part in (parts if len(parts) <= NARROWED_MAX else ())
        if scanner.among(_pieces(blocks, [each for each in parts if each != part])) is None
    ]
    _empty(blocks, concerned, mark(finding))
    if not concerned or scanner.among(_pieces(blocks, parts)):
        _empty(blocks, parts, mark(finding))


def _empty(blocks: list[dict[str, Any]], parts: Iterable[Part], told: str) -> None:
    for number, field in parts:
        blocks[number][field] = emptied(blocks[number][field], told)


def _pieces(blocks: list[dict[str, Any]], parts: Iterable[Part]) -> list[walk.Piece]:
    # The paths do not say which block: so the same argument of several calls comes to stand side by side.
    return [piece for number, field in parts for piece in walk.opened(walk.leaves(blocks[number][field], field))]
