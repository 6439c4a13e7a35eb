"""The flow that led to a call as a small graph: whose words decided which argument, from left to right, and the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.approvals.origins import read_origins
from ferryman.domain.approvals.visible import show_text

NODES_MAX = 12
"""How many arguments a graph has; the list beside it has all of them."""

CHARACTERS_MAX = 34
"""How many characters of a text are in its box; all of it is in the list."""

TITLE_MAX = 400
"""How many characters of a text its box shows on hover."""

BOX_WIDTH, BOX_HEIGHT, GAP, ROW = 270, 34, 60, 46


def build_flow(form: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the links of a canonical form's flow, and the boxes and lines of their graph; None where nothing was judged."""
    flow = form.get("flow")
    lines = flow.get("lines") if isinstance(flow, dict) else None
    origins = read_origins(lines) if isinstance(lines, list) else None
    if not origins:
        return None
    links = [
        {"argument": show_text(origin.argument), "source": show_text(origin.source), "is_trusted": origin.is_trusted}
        for origin in origins
    ]
    return {"links": links, "graph": _draw(links[:NODES_MAX], show_text(str(form.get("tool", ""))))}


def _draw(links: list[dict[str, Any]], tool: str) -> dict[str, Any]:
    sources = list(dict.fromkeys((link["source"], link["is_trusted"]) for link in links))
    rows = len(links)
    places = {source: _spread(index, len(sources), rows) for index, source in enumerate(sources)}
    middle, last = BOX_WIDTH + GAP, 2 * (BOX_WIDTH + GAP)
    boxes = [_box(0, places[source], source[0], "trusted" if source[1] else "untrusted") for source in sources]
    lines = []
    call_y = _spread(0, 1, rows)
    for index, link in enumerate(links):
        y, kind = index * ROW, "trusted" if link["is_trusted"] else "untrusted"
        boxes.append(_box(middle, y, link["argument"], kind))
        lines.append({**_line(BOX_WIDTH, places[link["source"], link["is_trusted"]], middle, y), "kind": kind})
        lines.append({**_line(middle + BOX_WIDTH, y, last, call_y), "kind": kind})
    boxes.append(_box(last, call_y, tool, "call"))
    return {"width": last + BOX_WIDTH + 2, "height": rows * ROW, "boxes": boxes, "lines": lines}


def _spread(index: int, count: int, rows: int) -> int:
    """Return the y of box `index` of `count` boxes that are spread evenly over so many `rows`, in units of the picture."""
    return round((index + 0.5) * rows * ROW / count - ROW / 2)


def _box(x: int, y: int, text: str, kind: str) -> dict[str, Any]:
    cut = text if len(text) <= CHARACTERS_MAX else f"{text[: CHARACTERS_MAX - 1]}…"
    return {
        "x": x + 1,
        "y": y + 1,
        "width": BOX_WIDTH,
        "height": BOX_HEIGHT,
        "text": cut,
        "title": text[:TITLE_MAX],
        "kind": kind,
    }


def _line(x1: int, y1: int, x2: int, y2: int) -> dict[str, Any]:
    return {"x1": x1 + 1, "y1": y1 + BOX_HEIGHT // 2, "x2": x2, "y2": y2 + BOX_HEIGHT // 2}
