"""Redaction: a text without its credentials."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from ferryman.domain.json_tree import map_leaves
from ferryman.egress.leaks import walk
from ferryman.egress.leaks.budget import SMALL, StepBudget
from ferryman.egress.leaks.scanner import SPANS_MAX, LeakFinding, SecretScanner, TextSpan

ROUNDS = 4
RIM_MAX = 512
"""So many characters on either side of an encoded secret go with it, as far as they may belong to its code."""

DEEP_CHARACTERS = 65_536
"""How much of a text is decoded. The model is shown 50,000 characters; the rest is for what would stand on the cut."""

PARTS = 16
PIECE_MIN = 8
"""What is shorter is no credential in any notation."""

OMITTED = "[omitted: too deeply encoded to be checked]"
_CODED = re.compile(r"[A-Za-z0-9+/_-]*+={0,2}")
_CODED_BACK = re.compile(r"[A-Za-z0-9+/_%\\-]*+")
_TOKENS = re.compile(r"([\s\"'<>,;(){}\[\]]+)")


def format_redaction(name: str) -> str:
    """Return what stands in a credential's place."""
    return f"[redacted:{name}]"


def format_finding(finding: LeakFinding) -> str:
    """Return what stands in place of everything that `finding` is about."""
    return OMITTED if finding.name is None else format_redaction(finding.name)


def redact_text(text: str, scanner: SecretScanner, budget: StepBudget | None = None) -> str:
    """Return `text` without credentials: replaced where they can be pointed at, token by token or line by line where they are
    encoded, and withheld as a whole where nothing smaller will do, or `budget` is spent before that is known."""
    text = _direct(text, scanner)
    head, rest = text[:DEEP_CHARACTERS], text[DEEP_CHARACTERS:]
    budget = StepBudget(len(head), passes=2) if budget is None else budget
    # A part of a long text is looked at like all of it: whatever was found there is found so.
    small = SMALL if len(head) <= SMALL else 0
    find = partial(scanner.find, thorough=True, budget=budget, small=small)
    finding = find(head)
    if finding is None:
        return text
    for pieces in (_TOKENS.split(head), head.splitlines(keepends=True)):
        if len(pieces) > 1:
            head = _parted(pieces, finding, find)
            if find(head) is None:
                return head + rest
    return format_finding(finding)


def redact_json(value: Any, scanner: SecretScanner, budget: StepBudget | None = None) -> Any:
    """Return a JSON value with its keys and texts redacted; emptied, and marked, where the secret is spread over it."""
    pieces = walk.split_urls(walk.collect_pieces(value, ""))
    if len(pieces) > walk.PIECES_MAX:
        return empty_value(value, OMITTED) if scanner else value
    budget = StepBudget(sum(len(piece.text) for piece in pieces), passes=3) if budget is None else budget
    finding = scanner.among(pieces, budget=budget)
    if finding is None:
        return value
    try:
        clean = map_leaves(
            value,
            lambda leaf: _redact_leaf(leaf, scanner, budget),
            rename=lambda name: redact_text(str(name), scanner, budget),
        )
    except RecursionError:
        return empty_value(value, format_finding(finding))  # nested deeper than may be taken apart
    left = scanner.among(walk.split_urls(walk.collect_pieces(clean, "")), budget=budget)
    return empty_value(value, format_finding(left)) if left else clean


def empty_value(value: Any, told: str) -> Any:
    """Return what is left of `value` when all that was in it goes: an object or a list that holds `told`, or `told` itself."""
    if isinstance(value, dict):
        return {"redacted": told}
    return [told] if isinstance(value, list | tuple) else told


def _direct(text: str, scanner: SecretScanner) -> str:
    for _ in range(ROUNDS):
        spans = scanner.spans(text)
        if not spans:
            return text
        if len(spans) > SPANS_MAX:
            return format_redaction(spans[0].name)
        text = _cut(text, spans)
    spans = scanner.spans(text)
    return format_redaction(spans[0].name) if spans else text


def _cut(text: str, spans: list[TextSpan]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, name in _merged(text, spans):
        parts += (text[done:start], format_redaction(name))
        done = end
    return "".join((*parts, text[done:]))


def _merged(text: str, spans: list[TextSpan]) -> list[tuple[int, int, str]]:
    """Return the spans in order, overlapping ones as one, each widened over what belongs to the same encoded run."""
    merged: list[tuple[int, int, str]] = []
    for start, end, name in sorted((*_widened(text, span), span.name) for span in spans):
        if merged and start < merged[-1][1]:
            before = merged[-1]
            merged[-1] = (before[0], max(before[1], end), before[2])
        else:
            merged.append((start, end, name))
    return merged


def _widened(text: str, span: TextSpan) -> tuple[int, int]:
    if not span.coded:
        return span.start, span.end
    # The rim of an encoded secret holds bits of it that no needle covers.
    before = _CODED_BACK.match(text[max(0, span.start - RIM_MAX) : span.start][::-1])
    after = _CODED.match(text, span.end, span.end + RIM_MAX)
    return span.start - (before.end() if before else 0), after.end() if after else span.end


def _parted(pieces: list[str], finding: LeakFinding, find: Callable[[str], LeakFinding | None]) -> str:
    """Return `pieces`, which `finding` is about together, joined: those that hold a credential by themselves are marked.

    Looked at in ever smaller parts, of which those that hold none are left at once.
    """
    if len(pieces) == 1:
        return format_finding(finding)
    size = -(-len(pieces) // PARTS)
    return "".join(_part(pieces[start : start + size], find) for start in range(0, len(pieces), size))


def _part(pieces: list[str], find: Callable[[str], LeakFinding | None]) -> str:
    text = "".join(pieces)
    found = find(text) if len(text) >= PIECE_MIN else None
    return _parted(pieces, found, find) if found else text


def _redact_leaf(leaf: Any, scanner: SecretScanner, budget: StepBudget) -> Any:
    if leaf is None or isinstance(leaf, bool):
        return leaf
    text = leaf if isinstance(leaf, str) else walk.collect_pieces(leaf, "")[0].text
    return redact_text(text, scanner, budget) if isinstance(leaf, str) or scanner.find(text, budget=budget) else leaf
