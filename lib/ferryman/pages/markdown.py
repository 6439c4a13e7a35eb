"""Markdown of the main text: headlines, paragraphs, lists, quotations, code, tables and links. Images are left out.

So is their alternative text: nobody sees it who sees the image.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from ferryman.pages.figures import BLOCKS
from ferryman.pages.grids import Grid, find_grids
from ferryman.pages.paragraphs import EMPHASIS, LINK, Paragraph
from ferryman.pages.tree import Element
from ferryman.pages.walking import list_kept

LIST_LEVELS, QUOTE_LEVELS = 8, 4
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_FENCE = re.compile(r"`{3,}")


class _Writer:
    """Writes elements one after the other; `size` is the number of characters so far."""

    def __init__(self, base: str, grids: Set[Element]) -> None:
        self._grids = grids
        self._paragraph = Paragraph(base)
        self._blocks: list[tuple[str, bool]] = []
        self._size = 0
        self._prefix = ""
        self._lists: list[int | None] = []
        self._quotes = 0
        self._item: str | None = None
        self._code: list[str] | None = None
        self._code_size = 0
        self._grid: Grid | None = None

    @property
    def size(self) -> int:
        return self._size + self._paragraph.pending + self._code_size + (0 if self._grid is None else self._grid.size)

    def text(self, text: str) -> None:
        if self._code is not None:
            self._code.append(text)
            self._code_size += len(text)
        else:
            self._paragraph.add(text)

    def start(self, node: Element) -> None:
        tag = node.tag
        if self._code is not None:
            if tag == "br":
                self._code.append("\n")
        elif tag == "br":
            self._paragraph.put("\n")
        elif tag in EMPHASIS or tag == LINK:
            self._paragraph.begin_mark(node)
        elif tag == "q":
            self._paragraph.put("“")
        elif tag in BLOCKS and self._grid is not None:
            self._start_in_grid(self._grid, node)
        elif tag in BLOCKS:
            self._start_block(node)

    def end(self, node: Element) -> None:
        tag = node.tag
        if self._code is not None:
            if tag == "pre":
                self._end_code()
        elif tag in EMPHASIS or tag == LINK:
            self._paragraph.end_mark(node)
        elif tag == "q":
            self._paragraph.put("”")
        elif tag in BLOCKS and self._grid is not None:
            self._end_in_grid(self._grid, node)
        elif tag in BLOCKS:
            self._end_block(node)

    def finish(self) -> str:
        self._end_paragraph()
        self._end_code()
        self._end_grid()
        parts: list[str] = []
        was_item = False
        for text, is_item in self._blocks:
            if parts:
                parts.append("\n" if was_item and is_item else "\n\n")
            parts.append(text)
            was_item = is_item
        return "".join(parts)

    def _start_block(self, node: Element) -> None:
        tag = node.tag
        self._end_paragraph()
        if tag in _HEADINGS:
            self._prefix = _HEADINGS[tag]
        elif tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._start_item()
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "dd":
            self._prefix = ": "
        elif tag == "pre":
            self._code = []
        elif tag == "table" and node in self._grids:
            self._grid = Grid()

    def _end_block(self, node: Element) -> None:
        tag = node.tag
        self._end_paragraph()
        self._prefix = ""
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "li":
            self._item = None
        elif tag == "blockquote":
            self._quotes -= 1

    def _start_in_grid(self, grid: Grid, node: Element) -> None:
        if node.tag == "tr":
            self._end_paragraph()
            grid.begin_row()
        elif node.tag in ("td", "th"):
            self._end_paragraph()
            grid.begin_cell(node)
        else:
            self._paragraph.put(" ")

    def _end_in_grid(self, grid: Grid, node: Element) -> None:
        if node.tag == "table":
            self._end_paragraph()
            self._end_grid()
        elif node.tag in ("td", "th", "tr", "caption"):
            self._end_paragraph()
            if node.tag == "caption":
                grid.begin_row()
        else:
            self._paragraph.put(" ")

    def _start_item(self) -> None:
        number = self._lists[-1] if self._lists else None
        if number is None:
            self._item = "- "
        else:
            self._item = f"{number}. "
            self._lists[-1] = number + 1

    def _end_paragraph(self) -> None:
        text = self._paragraph.end()
        if not text:
            return
        if self._grid is not None:
            self._grid.add(text)
        else:
            self._emit(f"{self._prefix}{text.replace(chr(10), ' ') if self._prefix else text}")
        self._prefix = ""

    def _end_code(self) -> None:
        text = "".join(self._code or ()).strip("\n").rstrip()
        self._code, self._code_size = None, 0
        if text.strip():
            longest = max((len(match[0]) for match in _FENCE.finditer(text)), default=2)
            fence = "`" * min(longest + 1, 16)
            self._emit(f"{fence}\n{text}\n{fence}")

    def _end_grid(self) -> None:
        grid, self._grid = self._grid, None
        if grid is not None and (text := grid.write()):
            self._emit(text)

    def _emit(self, text: str) -> None:
        """Write a block, behind the marks of its list and quotation."""
        is_item = self._item is not None or bool(self._lists)
        indent = "  " * min(max(0, len(self._lists) - 1), LIST_LEVELS)
        first = f"{indent}{self._item}" if self._item else indent + ("  " if self._lists else "")
        self._item = None
        rest = indent + ("  " if self._lists else "")
        quote = "> " * min(self._quotes, QUOTE_LEVELS)
        lines = text.split("\n")
        text = "\n".join(f"{quote}{first if number == 0 else rest}{line}" for number, line in enumerate(lines))
        self._blocks.append((text, is_item))
        self._size += len(text) + 2


def write_markdown(roots: Iterable[Element], base: str, characters: int) -> tuple[str, bool]:
    """Return the Markdown of elements of a page at `base`, and whether it was ended after about `characters` of it."""
    roots = list(roots)
    writer = _Writer(base, find_grids(node for root in roots for node in list_kept(root)))
    waiting: list[tuple[Element | str, bool]] = [(root, False) for root in reversed(roots)]
    while waiting:
        child, is_end = waiting.pop()
        if isinstance(child, str):
            writer.text(child)
        elif is_end:
            writer.end(child)
        elif not child.is_dropped:
            if writer.size > characters:
                return writer.finish(), True
            writer.start(child)
            waiting.append((child, True))
            waiting.extend([(below, False) for below in reversed(child.children)])
    return writer.finish(), False
