"""Tables: which of them hold data, not a layout."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.pages.tree import Element


def find_data_tables(order: Iterable[Element]) -> set[Element]:
    """Return the tables that hold data; `order` is that of the page."""
    tables: dict[Element, list[int]] = {}  # rows, cells, signs of data, signs of a layout, tables inside
    current: dict[Element, Element] = {}  # of what is inside of a table, the innermost one
    for node in order:
        table = current.get(node.parent) if node.parent else None
        if node.tag == "table":
            if table is not None:
                tables[table][4] += 1
            attributes = node.attributes
            layout = attributes.get("role") == "presentation" or attributes.get("datatable") == "0"
            tables[node] = [0, 0, "summary" in attributes, layout, 0]
            table = node
        elif table is not None:
            counts = tables[table]
            counts[0] += node.tag == "tr"
            counts[1] += node.tag in ("td", "th")
            counts[2] += node.tag in ("caption", "col", "colgroup", "tfoot", "thead", "th")
        if table is not None:
            current[node] = table
    return {
        table
        for table, (rows, cells, data, layout, inner) in tables.items()
        if not layout and (data or (not inner and (rows >= 10 or cells > 4 * max(1, rows) or cells > 10)))
    }
