"""Markdown of the main text: headlines, paragraphs, lists, quotations, code, tables and links. Images are left out.

So is their alternative text: nobody sees it who sees the image.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ferryman.domain.http.links import resolve
from ferryman.pages.figures import BLOCKS
from ferryman.pages.scoring import list_kept
from ferryman.pages.tree import Element

LIST_LEVELS, QUOTE_LEVELS, COLUMNS_MAX, MARKS_MAX = 8, 4, 50, 8
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_EMPHASIS = {"b": "**", "strong": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "samp": "`"}
_SPACES = re.compile(r"[^\S\n]+")
_BREAK = re.compile(r"(?<! ) *\n[ \n]*")
_ANCHORS = frozenset("¶#§🔗∞")  # what links a headline to itself
_FENCE = re.compile(r"`{3,}")
# What makes a table a layout: its cells are no cells of a table in Markdown.
_NO_CELL = frozenset(("table", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "form", "article", "section"))


class _Writer:
    """Writes elements one after the other; `size` is the number of characters so far."""

    def __init__(self, base: str, grids: frozenset[Element] | set[Element]) -> None:
        self._base, self._grids = base, grids
        self.blocks: list[tuple[str, bool]] = []
        self.size = 0
        self._line: list[str] = []
        self._prefix = ""
        self._lists: list[int | None] = []
        self._quotes = 0
        self._item: str | None = None
        self._marks: list[tuple[Element, int, int]] = []
        self._number = 0
        """The number of the paragraph: a mark that began in another one is none."""
        self.pending = 0
        """Characters of the paragraph."""
        self._raw: list[str] | None = None
        self._rows: list[list[str]] | None = None

    def text(self, text: str) -> None:
        if self._raw is not None:
            self._raw.append(text)
        else:
            self._line.append(_SPACES.sub(" ", text.replace("\n", " ")))
        self.pending += len(text)

    def start(self, node: Element) -> None:
        tag = node.tag
        if self._raw is not None:
            if tag == "br":
                self._raw.append("\n")
            return
        if tag == "br":
            self._line.append("\n")
        elif tag in _EMPHASIS or tag == "a":
            if len(self._marks) < MARKS_MAX:
                self._marks.append((node, len(self._line), self._number))
        elif tag == "q":
            self._line.append("“")
        elif tag in BLOCKS:
            self._start_block(node)

    def end(self, node: Element) -> None:
        tag = node.tag
        if self._raw is not None:
            if tag == "pre":
                self._end_code()
            return
        if tag in _EMPHASIS or tag == "a":
            self._end_mark(node)
        elif tag == "q":
            self._line.append("”")
        elif tag in BLOCKS:
            self._end_block(node)

    def finish(self) -> str:
        self.flush()
        if self._raw is not None:
            self._end_code()
        elif self._rows is not None:
            self._end_table()
        parts: list[str] = []
        was_item = False
        for text, is_item in self.blocks:
            if parts:
                parts.append("\n" if was_item and is_item else "\n\n")
            parts.append(text)
            was_item = is_item
        return "".join(parts)

    def flush(self) -> None:
        """End the paragraph."""
        if self._marks and self._line:
            for node, start, number in self._marks:
                if node.tag == "a":  # a link around several blocks is a link in each
                    self._wrap(node, start if number == self._number else 0)
                    break
        self._number += 1
        self.pending = 0
        text = _BREAK.sub("\n", _SPACES.sub(" ", "".join(self._line))).strip()
        self._line = []
        if not text:
            return
        if self._rows is not None:
            row = self._rows[-1] if self._rows else self._add_row()
            row[-1:] = [f"{row[-1]} {text}".strip()] if row else [text]
            self.size += len(text) + 3
        else:
            self._emit(f"{self._prefix}{text.replace(chr(10), ' ') if self._prefix else text}")
        self._prefix = ""

    def _emit(self, text: str) -> None:
        is_item = self._item is not None or bool(self._lists)
        indent = "  " * min(max(0, len(self._lists) - 1), LIST_LEVELS)
        first = f"{indent}{self._item}" if self._item else indent + ("  " if self._lists else "")
        self._item = None
        rest = indent + ("  " if self._lists else "")
        quote = "> " * min(self._quotes, QUOTE_LEVELS)
        lines = text.split("\n")
        text = "\n".join(f"{quote}{first if number == 0 else rest}{line}" for number, line in enumerate(lines))
        self.blocks.append((text, is_item))
        self.size += len(text) + 2

    def _start_block(self, node: Element) -> None:
        tag = node.tag
        if self._rows is not None:
            if tag == "tr":
                self.flush()
                self._add_row()
            elif tag in ("td", "th"):
                self.flush()
                self._add_cell(node)
            else:
                self._line.append(" ")
            return
        self.flush()
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
            self._raw = []
        elif tag == "table" and node in self._grids:
            self._rows = []

    def _end_block(self, node: Element) -> None:
        tag = node.tag
        if self._rows is not None:
            if tag == "table":
                self.flush()
                self._end_table()
            elif tag in ("td", "th", "tr", "caption"):
                self.flush()
                if tag == "caption":
                    self._rows.append([])
            else:
                self._line.append(" ")
            return
        self.flush()
        self._prefix = ""
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "li":
            self._item = None
        elif tag == "blockquote":
            self._quotes -= 1

    def _start_item(self) -> None:
        number = self._lists[-1] if self._lists else None
        if number is None:
            self._item = "- "
        else:
            self._item = f"{number}. "
            self._lists[-1] = number + 1

    def _end_mark(self, node: Element) -> None:
        if self._marks and self._marks[-1][0] is node:
            _, start, number = self._marks.pop()
            if number == self._number:
                self._wrap(node, start)
            elif node.tag == "a":
                self._wrap(node, 0)

    def _wrap(self, node: Element, start: int) -> None:
        """Wrap what was written since `start` in the mark of `node`, without the spaces around it."""
        inner = "".join(self._line[start:])
        text = inner.strip()
        if not text:
            return
        if node.tag == "a":
            href = node.attributes.get("href", "")
            if href.startswith("#") and text in _ANCHORS:
                self._line[start:] = []
                return
            url = resolve(self._base, href)
            if url is None:
                return
            text = text.replace("\n", " ").replace("[", "(").replace("]", ")")
            marked = f"[{text}]({url})"
        else:
            mark = _EMPHASIS[node.tag]
            if mark == "`" and "`" in text:
                return
            marked = f"{mark}{text}{mark}"
        before = inner[: len(inner) - len(inner.lstrip())]
        after = inner[len(inner.rstrip()) :]
        self._line[start:] = [before + marked + after]

    def _end_code(self) -> None:
        text = "".join(self._raw or ()).strip("\n").rstrip()
        self._raw = None
        if text.strip():
            longest = max((len(match[0]) for match in _FENCE.finditer(text)), default=2)
            fence = "`" * min(longest + 1, 16)
            self._emit(f"{fence}\n{text}\n{fence}")

    def _add_row(self) -> list[str]:
        assert self._rows is not None
        self._rows.append([])
        return self._rows[-1]

    def _add_cell(self, node: Element) -> None:
        assert self._rows is not None
        row = self._rows[-1] if self._rows else self._add_row()
        span = node.attributes.get("colspan", "1").strip() if node.attributes else "1"
        empty = min(int(span), COLUMNS_MAX) - 1 if span.isascii() and span.isdigit() and len(span) < 4 else 0
        if len(row) >= COLUMNS_MAX:
            row = self._add_row()
        # the text goes to the last cell: those that a wide one covers come before it
        row.extend([""] * (1 + max(0, empty)))

    def _end_table(self) -> None:
        rows = [row for row in self._rows or () if any(row)]
        self._rows = None
        if not rows:
            return
        width = max(map(len, rows))
        lines = []
        for number, row in enumerate(rows):
            cells = (cell.replace("\n", " ").replace("|", "\\|") for cell in row)
            lines.append(f"| {' | '.join(cells)} |")
            if number == 0:
                lines.append("|" + " --- |" * width)
        self._emit("\n".join(lines))


def find_grids(order: Iterable[Element]) -> set[Element]:
    """Return the tables that can be written as tables: several columns, and nothing in the cells but texts."""
    current: dict[Element, Element] = {}  # of what is inside of a table, the innermost one
    cells: dict[Element, int] = {}
    grids: set[Element] = set()
    layouts: set[Element] = set()
    for node in order:
        table = current.get(node.parent) if node.parent else None
        if table is not None and node.tag in _NO_CELL:
            layouts.add(table)
        if node.tag == "table":
            table = node
        elif node.tag == "tr" and table is not None:
            cells[table] = 0
        elif node.tag in ("td", "th") and table is not None:
            cells[table] = cells.get(table, 0) + 1
            if cells[table] == 2:
                grids.add(table)
        if table is not None:
            current[node] = table
    return grids - layouts


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
            if writer.size + writer.pending > characters:
                return writer.finish(), True
            writer.start(child)
            waiting.append((child, True))
            waiting.extend([(below, False) for below in reversed(child.children)])
    return writer.finish(), False
