"""Redaction: what is left of a text when its credentials are taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ferryman.egress.leaks import walk

if TYPE_CHECKING:
    from ferryman.egress.leaks.scanner import Finding, Scanner, Span

ROUNDS = 4
DEEP_CHARACTERS = 65_536
"""How much of a text is decoded. The model is shown 50,000 characters; the rest is for what would stand on the cut."""

WITHHELD = "[withheld: too deeply encoded to be checked]"
_CODED = re.compile(r"[A-Za-z0-9+/_-]*+={0,2}")
_CODED_BACK = re.compile(r"[A-Za-z0-9+/_%\\-]*+")
_TOKENS = re.compile(r"([\s\"'<>,;(){}\[\]]+)")


def redacted(name: str) -> str:
    """What stands in a credential's place."""
    return f"[redacted:{name}]"


def mark(finding: Finding) -> str:
    """What stands in place of everything that `finding` is about."""
    return WITHHELD if finding.name is None else redacted(finding.name)


def redact(text: str, scanner: Scanner) -> str:
    """`text` without credentials: replaced where they can be pointed at, token by token or line by line where they are
    encoded, and withheld as a whole where nothing smaller will do."""
    text = _direct(text, scanner)
    head, rest = text[:DEEP_CHARACTERS], text[DEEP_CHARACTERS:]
    finding = scanner.find(head, thorough=True)
    if finding is None:
        return text
    for pieces in (_TOKENS.split(head), head.splitlines(keepends=True)):
        if len(pieces) > 1:
            head = "".join(_piece(each, scanner) for each in pieces)
            if scanner.find(head, thorough=True) is None:
                return head + rest
    return mark(finding)


def redact_json(value: Any, scanner: Scanner) -> Any:
    """A JSON value with its keys and texts redacted; emptied, and marked, where the secret is spread over it."""
    finding = scanner.among(walk.opened(walk.leaves(value, "")))
    if finding is None:
        return value
    try:
        clean = _mapped(value, scanner)
    except RecursionError:
        return emptied(value, mark(finding))  # nested deeper than may be taken apart
    left = scanner.among(walk.opened(walk.leaves(clean, "")))
    return emptied(value, mark(left)) if left else clean


def emptied(value: Any, told: str) -> Any:
    """What is left of `value` when all that was in it goes: an object or a list that holds `told`, or `told` itself."""
    if isinstance(value, dict):
        return {"redacted": told}
    return [told] if isinstance(value, list | tuple) else told


def occurrences(text: str, value: str) -> Iterator[int]:
    """Where `value` begins in `text`."""
    start = text.find(value)
    while start >= 0:
        yield start
        start = text.find(value, start + len(value))


def _direct(text: str, scanner: Scanner) -> str:
    for _ in range(ROUNDS):
        spans = scanner.spans(text)
        if not spans:
            return text
        text = _cut(text, spans)
    spans = scanner.spans(text)
    return redacted(spans[0].name) if spans else text


def _cut(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, name in _merged(text, spans):
        parts += (text[done:start], redacted(name))
        done = end
    return "".join((*parts, text[done:]))


def _merged(text: str, spans: list[Span]) -> list[tuple[int, int, str]]:
    """The spans in order, overlapping ones as one, each widened over what belongs to the same encoded run."""
    merged: list[tuple[int, int, str]] = []
    for start, end, name in sorted((*_widened(text, span), span.name) for span in spans):
        if merged and start < merged[-1][1]:
            before = merged[-1]
            merged[-1] = (before[0], max(before[1], end), before[2])
        else:
            merged.append((start, end, name))
    return merged


def _widened(text: str, span: Span) -> tuple[int, int]:
    if not span.coded:
        return span.start, span.end
    # The rim of an encoded secret holds bits of it that no needle covers.
    before = _CODED_BACK.match(text[max(0, span.start - 512) : span.start][::-1])
    after = _CODED.match(text, span.end)
    return span.start - (before.end() if before else 0), after.end() if after else span.end


def _piece(text: str, scanner: Scanner) -> str:
    if len(text) < 8:
        return text
    finding = scanner.find(text)
    if finding is None:
        return text
    return mark(finding)


def _mapped(value: Any, scanner: Scanner) -> Any:
    if isinstance(value, str):
        return redact(value, scanner)
    if isinstance(value, dict):
        return {redact(str(key), scanner): _mapped(item, scanner) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, scanner) for item in value]
    if value is None or isinstance(value, bool):
        return value
    text = walk.leaves(value, "")[0].text
    return redact(text, scanner) if scanner.find(text) else value
