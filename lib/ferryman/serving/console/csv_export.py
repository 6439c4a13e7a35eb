"""CSV that a spreadsheet opens without running anything in it (prevents CSV injection, CWE-1236)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""The first characters of a cell that a spreadsheet reads as a formula, with full-width forms; leading spaces are skipped."""

QUOTED = ('"', ",", ";", "\r", "\n", "\t")
_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?", re.ASCII)


def write_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV (RFC 4180): a line each, ended by CR LF, and every cell harmless."""
    return "".join(",".join(map(_write_cell, row)) + "\r\n" for row in rows)


def neutralize_cell(text: str) -> str:
    """Return a text with an apostrophe before it where a spreadsheet would take it for a formula; a number is none."""
    if _NUMBER.fullmatch(text):
        return text
    return f"'{text}" if text.lstrip(" \u00a0").startswith(STARTS) else text


def _write_cell(value: object) -> str:
    text = neutralize_cell("" if value is None else str(value).replace("\0", ""))
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in QUOTED) else text
