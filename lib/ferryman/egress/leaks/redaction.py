"""Redaction of credentials in texts, JSON values and a model's turn, whatever a credential in them is split over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ferryman.domain.json_tree import map_leaves
from ferryman.egress.leaks import text_pieces
from ferryman.egress.leaks.scanner import SPANS_MAX, LeakFinding, SecretScanner, TextSpan
from ferryman.egress.leaks.text_pieces import TextPiece, collect_pieces, split_urls
from ferryman.egress.leaks.views import SMALL, StepBudget

ROUNDS = 4
RIM_MAX = 512
"""Characters on either side of an encoded secret that are removed with it, as far as they may belong to its encoding."""

DEEP_CHARACTERS = 65_536
"""Characters of a text that are decoded. The model reads 50,000; the rest is for a secret at the cut."""

PARTS = 16
PIECE_MIN = 8
"""A shorter text is no credential in any notation."""

OMITTED = "[omitted: too deeply encoded to be checked]"
_CODED = re.compile(r"[A-Za-z0-9+/_-]*+={0,2}")
_CODED_BACK = re.compile(r"[A-Za-z0-9+/_%\\-]*+")
_TOKENS = re.compile(r"([\s\"'<>,;(){}\[\]]+)")


def format_redaction(name: str) -> str:
    """Return the text in place of a credential."""
    return f"[redacted:{name}]"


def format_finding(finding: LeakFinding) -> str:
    """Return the text in place of everything that `finding` is about."""
    return OMITTED if finding.name is None else format_redaction(finding.name)


def redact_text(text: str, scanner: SecretScanner, budget: StepBudget | None = None) -> str:
    """Return `text` without credentials.

    A credential is replaced where it can be located, else its tokens or its lines are. The whole text is omitted where that is
    not enough, or `budget` is spent before it is known.
    """
    text = _replace_spans(text, scanner)
    head, rest = text[:DEEP_CHARACTERS], text[DEEP_CHARACTERS:]
    budget = StepBudget(len(head), passes=2) if budget is None else budget
    # A part of a long text is scanned like the whole, so the same is found.
    small = SMALL if len(head) <= SMALL else 0
    find = partial(scanner.find, thorough=True, budget=budget, small=small)
    finding = find(head)
    if finding is None:
        return text
    for pieces in (_TOKENS.split(head), head.splitlines(keepends=True)):
        if len(pieces) > 1:
            head = _redact_parts(pieces, finding, find)
            if find(head) is None:
                return head + rest
    return format_finding(finding)


def redact_json(value: Any, scanner: SecretScanner, budget: StepBudget | None = None) -> Any:
    """Return a JSON value with its names and texts redacted; it is emptied, with a notice, where a secret is split over it."""
    pieces = text_pieces.split_urls(text_pieces.collect_pieces(value, ""))
    if len(pieces) > text_pieces.PIECES_MAX:
        return empty_value(value, OMITTED) if scanner else value
    budget = StepBudget(sum(len(piece.text) for piece in pieces), passes=3) if budget is None else budget
    finding = scanner.find_among(pieces, budget=budget)
    if finding is None:
        return value
    try:
        clean = map_leaves(
            value, lambda leaf: _redact_leaf(leaf, scanner, budget), rename=lambda name: redact_text(str(name), scanner, budget)
        )
    except RecursionError:
        return empty_value(value, format_finding(finding))  # nested too deep
    rest = scanner.find_among(text_pieces.split_urls(text_pieces.collect_pieces(clean, "")), budget=budget)
    return empty_value(value, format_finding(rest)) if rest else clean


def empty_value(value: Any, notice: str) -> Any:
    """Return `value` without its content: an object or a list of `notice` alone, or `notice` itself."""
    if isinstance(value, dict):
        return {"redacted": notice}
    return [notice] if isinstance(value, list | tuple) else notice


def _replace_spans(text: str, scanner: SecretScanner) -> str:
    for _ in range(ROUNDS):
        spans = scanner.find_spans(text)
        if not spans:
            return text
        if len(spans) > SPANS_MAX:
            return format_redaction(spans[0].name)
        text = _cut_spans(text, spans)
    spans = scanner.find_spans(text)
    return format_redaction(spans[0].name) if spans else text


def _cut_spans(text: str, spans: list[TextSpan]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, name in _merge_spans(text, spans):
        parts += (text[done:start], format_redaction(name))
        done = end
    return "".join((*parts, text[done:]))


def _merge_spans(text: str, spans: list[TextSpan]) -> list[tuple[int, int, str]]:
    """Return the spans in order, overlapping ones as one, each widened to its encoding."""
    merged: list[tuple[int, int, str]] = []
    for start, end, name in sorted((*_widen(text, span), span.name) for span in spans):
        if merged and start < merged[-1][1]:
            before = merged[-1]
            merged[-1] = (before[0], max(before[1], end), before[2])
        else:
            merged.append((start, end, name))
    return merged


def _widen(text: str, span: TextSpan) -> tuple[int, int]:
    if not span.coded:
        return span.start, span.end
    # The characters next to an encoded secret hold bits of it that no pattern covers.
    before = _CODED_BACK.match(text[max(0, span.start - RIM_MAX) : span.start][::-1])
    after = _CODED.match(text, span.end, span.end + RIM_MAX)
    return span.start - (before.end() if before else 0), after.end() if after else span.end


def _redact_parts(pieces: list[str], finding: LeakFinding, find: Callable[[str], LeakFinding | None]) -> str:
    """Return `pieces`, which together have `finding`, joined: those that hold a credential by themselves are replaced.

    The search divides them into ever smaller parts; a part without a credential is not divided.
    """
    if len(pieces) == 1:
        return format_finding(finding)
    size = -(-len(pieces) // PARTS)
    return "".join(_redact_part(pieces[start : start + size], find) for start in range(0, len(pieces), size))


def _redact_part(pieces: list[str], find: Callable[[str], LeakFinding | None]) -> str:
    text = "".join(pieces)
    finding = find(text) if len(text) >= PIECE_MIN else None
    return _redact_parts(pieces, finding, find) if finding else text


def _redact_leaf(leaf: Any, scanner: SecretScanner, budget: StepBudget) -> Any:
    if leaf is None or isinstance(leaf, bool):
        return leaf
    text = leaf if isinstance(leaf, str) else text_pieces.collect_pieces(leaf, "")[0].text
    return redact_text(text, scanner, budget) if isinstance(leaf, str) or scanner.find(text, budget=budget) else leaf


NARROWED_MAX = 16
"""In a turn of more parts, a credential that is split over several empties all: searching for them would cost too much."""

PASSES = 8  # how often a turn is scanned: field by field, and in combinations of fields

# A reader of a turn joins some of its fields and ignores the others.
_COMBINATIONS = (("text",), ("input",), ("name",), ("id",), ("text", "input"), ("text", "name", "input"))


class BlockField(NamedTuple):
    """One field of one of the blocks that the model wrote."""

    block: int
    field: str


def redact_blocks(content: Sequence[Mapping[str, Any]], scanner: SecretScanner) -> list[dict[str, Any]]:
    """Return `content` without credentials: as many blocks, of the same types, with the same fields, `input` always an object.

    A credential that cannot be cut out empties its whole text or input; one that is split over several empties them all.
    """
    pieces = [piece for block in content for field, value in block.items() for piece in collect_pieces(value, field)]
    budget = StepBudget(sum(len(piece.text) for piece in pieces), passes=PASSES)
    blocks = [{field: _redact_field(field, value, scanner, budget) for field, value in block.items()} for block in content]
    for parts in dict.fromkeys(_iterate_combinations(blocks)):
        _redact_combination(blocks, parts, scanner, budget)
    return blocks


def _redact_field(field: str, value: Any, scanner: SecretScanner, budget: StepBudget) -> Any:
    if field == "input":
        return redact_json(dict(value) if isinstance(value, Mapping) else {"": value}, scanner, budget)
    return redact_json(str(value) if field in ("text", "name", "id") else value, scanner, budget)


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
