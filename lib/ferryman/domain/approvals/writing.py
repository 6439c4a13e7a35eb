"""A rendering as plain text: every line of it is behind a margin of our own, so that no value can fake another line."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from ferryman.domain.approvals.rendering import ShownLine

NAME_COLUMNS_MAX = 24
TEXT_COLUMNS_MIN = 20
MARGIN, CONTINUED = "│ ", "┆ "


def write_rendering(lines: Iterable[ShownLine], *, width: int) -> Iterator[str]:
    """Yield the lines of a rendering as text of at most `width` columns, each section under its heading."""
    lines = list(lines)
    names = min(NAME_COLUMNS_MAX, max((len(line.name) for line in lines), default=0))
    section = None
    for line in lines:
        if line.section != section:
            section = line.section
            yield section
        yield from write_line(line, names=names, width=width)


def write_line(line: ShownLine, *, names: int, width: int, mark: str = " ") -> Iterator[str]:
    """Yield a line, in pieces where it is longer than `width`: the later ones are behind another margin.

    `mark` comes first in each. A name of more than `names` columns is on lines of its own.
    """
    columns = max(TEXT_COLUMNS_MIN, width - names - len(MARGIN) - len(mark) - 2)
    name, margin = line.name, MARGIN
    while len(name) > names:
        yield f"{mark} {name[:names]} {CONTINUED}"
        name = name[names:]
    for piece in _split(line.text, columns):
        yield f"{mark} {name:<{names}} {margin}{piece}"
        name, margin = "", CONTINUED


def _split(text: str, columns: int) -> Iterator[str]:
    """Yield `text` in pieces of at most `columns` columns, at least one."""
    if text.isascii():
        yield from (text[place : place + columns] for place in range(0, max(1, len(text)), columns))
        return
    piece: list[str] = []
    used = 0
    for character in text:
        size = 2 if unicodedata.east_asian_width(character) in ("W", "F", "A") else 1
        if used + size > columns:
            yield "".join(piece)
            piece, used = [], 0
        piece.append(character)
        used += size
    yield "".join(piece)
