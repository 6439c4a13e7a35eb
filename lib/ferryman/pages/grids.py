"""Tables that Markdown can show: which they are, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.pages.tree import Element

COLUMNS_MAX = 50
# What makes a table a layout: its cells are no cells of a table in Markdown.
_NO_CELL = frozenset(("table", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "form", "article", "section"))


class Grid:
    """The rows of a table that is being written; `size` is about the number of its characters."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self.size = 0

    def begin_row(self) -> None:
        """Begin a row; an empty one is not written."""
        self._rows.append([])

    def begin_cell(self, node: Element) -> None:
        """Begin the cell of an element, as wide as that says."""
        row = self._last_row()
        span = node.attributes.get("colspan", "1").strip() if node.attributes else "1"
        empty = min(int(span), COLUMNS_MAX) - 1 if span.isascii() and span.isdigit() and len(span) < 4 else 0
        if len(row) >= COLUMNS_MAX:
            self.begin_row()
            row = self._rows[-1]
        # the text goes to the last cell: those that a wide one covers come before it
        row.extend([""] * (1 + max(0, empty)))

    def add(self, text: str) -> None:
        """Add a text to the last cell."""
        row = self._last_row()
        row[-1:] = [f"{row[-1]} {text}".strip()] if row else [text]
        self.size += len(text) + 3

    def write(self) -> str:
        """Return the table in Markdown, empty where nothing is in it."""
        rows = [row for row in self._rows if any(row)]
        if not rows:
            return ""
        lines = []
        for number, row in enumerate(rows):
            cells = (cell.replace("\n", " ").replace("|", "\\|") for cell in row)
            lines.append(f"| {' | '.join(cells)} |")
            if number == 0:
                lines.append("|" + " --- |" * max(map(len, rows)))
        return "\n".join(lines)

    def _last_row(self) -> list[str]:
        if not self._rows:
            self.begin_row()
        return self._rows[-1]


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
