"""Redaction of credentials in texts, JSON values and a model's turn, whatever a credential in them is split over."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from ferryman.domain.json_tree import map_leaves
from ferryman.egress.leaks import text_pieces
from ferryman.egress.leaks.scanner import SPANS_MAX, LeakFinding, SecretScanner, TextSpan
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
    if text in scanner.checked:
        return text
    text = _replace_spans(text, scanner)
    head, rest = text[:DEEP_CHARACTERS], text[DEEP_CHARACTERS:]
    budget = scanner.allow(len(head), passes=2) if budget is None else budget
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


def is_clean(text: str, value: Any, scanner: SecretScanner) -> bool:
    """Tell whether a small `text` holds no credential, nor the JSON `value` that is written in it: both are read at once.

    False where it is not small, or more than that is to be known of it.
    """
    if len(text) > SMALL:
        return False
    pieces = text_pieces.split_urls(text_pieces.collect_pieces(value, ""))
    return scanner.find_among(pieces, beside=(text,), budget=scanner.allow(len(text), passes=3)) is None


def redact_json(value: Any, scanner: SecretScanner, budget: StepBudget | None = None) -> Any:
    """Return a JSON value with its names and texts redacted; it is emptied, with a notice, where a secret is split over it."""
    pieces = text_pieces.split_urls(text_pieces.collect_pieces(value, ""))
    if len(pieces) > text_pieces.PIECES_MAX:
        return empty_value(value, OMITTED) if scanner else value
    budget = scanner.allow(sum(len(piece.text) for piece in pieces), passes=3) if budget is None else budget
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
