"""Redaction of the blocks of a model's turn before they are stored, whatever a credential in them is split over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ferryman.egress.leaks.redaction import OMITTED, empty_value, format_finding, redact_json
from ferryman.egress.leaks.scanner import SecretScanner
from ferryman.egress.leaks.text_pieces import TextPiece, collect_pieces, split_urls
from ferryman.egress.leaks.views import StepBudget

NARROWED_MAX = 16
"""In a turn of more parts, a credential that is split over several empties all: searching for them would cost too much."""

PASSES = 8  # how often a turn is scanned: field by field, and in combinations of fields
PASSES_WITH_OTHERS = 14

OTHERS = ""
"""Everything of a block beside its text, thinking, input, name and id, as one value: a field's name may hold a secret, too."""

# A reader of a turn joins some of its fields and ignores the others.
_COMBINATIONS = (
    *(("text",), ("input",), ("name",), ("id",), ("text", "input"), ("text", "name", "input")),
    *(("thinking",), ("thinking", "text"), (OTHERS,), ("text", "thinking", "id", "name", "input", OTHERS)),
)
_PLAIN_TYPES = ("text", "tool_use")
"""The blocks that we read ourselves. Each stays, whatever is cut out of it."""

_FIELDS = ("text", "thinking", "input", "name", "id")
_SIGNED = ("signature", "data", "encrypted_content")
"""A block with a text in one of these is signed or encrypted by its provider, which takes it back unchanged or not at all."""


class BlockField(NamedTuple):
    """One field of one of the blocks that the model wrote."""

    block: int
    field: str


def redact_blocks(content: Sequence[Mapping[str, Any]], scanner: SecretScanner) -> list[dict[str, Any]]:
    """Return `content` without credentials, `input` always an object.

    A credential that cannot be cut out empties its whole text or input; one that is split over several empties them all. Where
    a block that its provider signed holds one, all such blocks of the turn are left out: it takes them back unchanged, and all
    or none. Any other block keeps its place; one of which no type is left becomes a text that says so.
    """
    folded = [_fold(block) for block in content]
    pieces = [piece for block in folded for field, value in block.items() for piece in collect_pieces(value, field)]
    passes = PASSES_WITH_OTHERS if any(OTHERS in block for block in folded) else PASSES
    budget = scanner.allow(sum(len(piece.text) for piece in pieces), passes=passes)
    blocks = [{field: _redact_field(field, value, scanner, budget) for field, value in block.items()} for block in folded]
    for parts in dict.fromkeys(_iterate_combinations(blocks)):
        _redact_combination(blocks, parts, scanner, budget)
    signed = [is_signed(block) for block in content]
    if any(is_one and clean != before for is_one, clean, before in zip(signed, blocks, folded, strict=True)):
        blocks = [block for block, is_one in zip(blocks, signed, strict=True) if not is_one]
    has_others = any(OTHERS in block for block in blocks)
    clean_blocks = [_unfold(block) for block in blocks]
    return _check_whole(clean_blocks, scanner, budget) if has_others else clean_blocks


def is_signed(block: Mapping[str, Any]) -> bool:
    """Say whether the provider takes `block` back unchanged only, and the turn without it."""
    return block.get("type") not in _PLAIN_TYPES and any(isinstance(block.get(field), str) for field in _SIGNED)


def _check_whole(blocks: list[dict[str, Any]], scanner: SecretScanner, budget: StepBudget) -> list[dict[str, Any]]:
    """Return `blocks` where no credential is in them as they are stored or sent, else nothing but the texts and calls of them.

    A block of an unknown shape may spell one over names, values and other blocks, in the order in which they are written.
    """
    for sort_keys in (False, True):
        finding = scanner.find(json.dumps(blocks, sort_keys=sort_keys), budget=budget)
        if finding is not None:
            notice = {"type": "text", "text": format_finding(finding)}
            return [_reduce(block) if block["type"] in _PLAIN_TYPES else dict(notice) for block in blocks]
    return blocks


def _reduce(block: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in block.items() if field in (*_FIELDS, "type")}


def _fold(block: Mapping[str, Any]) -> dict[str, Any]:
    fields = (*_FIELDS, "type") if block.get("type") in _PLAIN_TYPES else _FIELDS
    others = {field: value for field, value in block.items() if field not in fields}
    alone = {field: value for field, value in block.items() if field in fields}
    return {**alone, OTHERS: others} if others else alone


def _unfold(block: dict[str, Any]) -> dict[str, Any]:
    others = block.pop(OTHERS, {})
    if "type" in block:
        return {**block, **others}
    if isinstance(others.get("type"), str):
        return {"type": others["type"], **block, **others}
    return {"type": "text", "text": str(others.get("redacted", OMITTED))}


def _redact_field(field: str, value: Any, scanner: SecretScanner, budget: StepBudget) -> Any:
    if field == "type":
        return value  # one of `_PLAIN_TYPES`, or it would be among the others
    if field == "input":
        return redact_json(dict(value) if isinstance(value, Mapping) else {"": value}, scanner, budget)
    return redact_json(str(value) if field in ("text", "thinking", "name", "id") else value, scanner, budget)


def _iterate_combinations(blocks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[BlockField, ...]]:
    """Yield the fields that a reader may join, beyond the single ones that have been redacted already."""
    for fields in _COMBINATIONS:
        parts = tuple(BlockField(number, field) for number, block in enumerate(blocks) for field in fields if field in block)
        if len(parts) > 1:
            yield parts


def _redact_combination(
    blocks: list[dict[str, Any]], parts: Sequence[BlockField], scanner: SecretScanner, budget: StepBudget
) -> None:
    """Empty those `parts` that hold a credential only together, or all of them where they hold it more than once."""
    finding = scanner.find_among(_pieces(blocks, parts), budget=budget)
    if finding is None:
        return
    concerned = [
        part
        for part in (parts if len(parts) <= NARROWED_MAX else ())
        if scanner.find_among(_pieces(blocks, [other for other in parts if other != part]), budget=budget) is None
    ]
    _empty(blocks, concerned, format_finding(finding))
    if not concerned or scanner.find_among(_pieces(blocks, parts), budget=budget):
        _empty(blocks, parts, format_finding(finding))


def _empty(blocks: list[dict[str, Any]], parts: Iterable[BlockField], notice: str) -> None:
    for number, field in parts:
        blocks[number][field] = empty_value(blocks[number][field], notice)


def _pieces(blocks: list[dict[str, Any]], parts: Iterable[BlockField]) -> list[TextPiece]:
    # The paths do not name the block: so the same arguments of several calls are next to each other.
    return [piece for number, field in parts for piece in split_urls(collect_pieces(blocks[number][field], field))]
