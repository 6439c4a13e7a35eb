"""Redaction of the blocks of a model's turn before they are stored, whatever a credential in them is split over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ferryman.egress.leaks import walk
from ferryman.egress.leaks.budget import StepBudget
from ferryman.egress.leaks.redaction import empty_value, format_finding, redact_json
from ferryman.egress.leaks.scanner import SecretScanner

NARROWED_MAX = 16
"""A credential spread over a turn of more parts than this takes them all with it: finding out which would cost too much."""

PASSES = 8
"""How often a turn is looked through: field by field, and what may be read as one."""

# Whoever reads a turn puts some of its fields together and leaves out the others.
_TOGETHER = (("text",), ("input",), ("name",), ("id",), ("text", "input"), ("text", "name", "input"))


class BlockField(NamedTuple):
    """A field of a block that the model wrote."""

    block: int
    field: str


def redact_blocks(content: Sequence[Mapping[str, Any]], scanner: SecretScanner) -> list[dict[str, Any]]:
    """Return `content` without credentials: as many blocks, of the same types, with the same fields, `input` always an object.

    What cannot be taken out of its place takes the whole text or input with it, and so does what is split over several.
    """
    pieces = [piece for block in content for field, value in block.items() for piece in walk.collect_pieces(value, field)]
    budget = StepBudget(sum(len(piece.text) for piece in pieces), passes=PASSES)
    blocks = [{field: _redacted(field, value, scanner, budget) for field, value in block.items()} for block in content]
    for parts in dict.fromkeys(_selections(blocks)):
        _part(blocks, parts, scanner, budget)
    return blocks


def _redacted(field: str, value: Any, scanner: SecretScanner, budget: StepBudget) -> Any:
    if field == "input":
        return redact_json(dict(value) if isinstance(value, Mapping) else {"": value}, scanner, budget)
    return redact_json(str(value) if field in ("text", "name", "id") else value, scanner, budget)


def _selections(blocks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[BlockField, ...]]:
    """Yield what may be read as one, beyond the single parts that have been redacted already."""
    for fields in _TOGETHER:
        parts = tuple(BlockField(number, field) for number, block in enumerate(blocks) for field in fields if field in block)
        if len(parts) > 1:
            yield parts


def _part(blocks: list[dict[str, Any]], parts: Sequence[BlockField], scanner: SecretScanner, budget: StepBudget) -> None:
    """Empty those of `parts` that only together hold a credential, or all of them where it is in them more than once."""
    finding = scanner.among(_pieces(blocks, parts), budget=budget)
    if finding is None:
        return
    concerned = [
        part
        for part in (parts if len(parts) <= NARROWED_MAX else ())
        if scanner.among(_pieces(blocks, [each for each in parts if each != part]), budget=budget) is None
    ]
    _empty(blocks, concerned, format_finding(finding))
    if not concerned or scanner.among(_pieces(blocks, parts), budget=budget):
        _empty(blocks, parts, format_finding(finding))


def _empty(blocks: list[dict[str, Any]], parts: Iterable[BlockField], told: str) -> None:
    for number, field in parts:
        blocks[number][field] = empty_value(blocks[number][field], told)


def _pieces(blocks: list[dict[str, Any]], parts: Iterable[BlockField]) -> list[walk.TextPiece]:
    # The paths do not say which block: so the same argument of several calls comes to stand side by side.
    return [piece for number, field in parts for piece in walk.split_urls(walk.collect_pieces(blocks[number][field], field))]
