"""Hidden text: what a page contains and a reader does not see is no part of its text (prompt injection)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ferryman.pages.look import Look, inherit
from ferryman.pages.removal import is_removed
from ferryman.pages.selectors import name_element
from ferryman.pages.style import read_sheets
from ferryman.pages.tree import SILENT, Element, Tree

_READER_ONLY = "a11y-hidden screen-reader-text screenreader-only sr-only visually-hidden visuallyhidden"
READER_ONLY = frozenset(_READER_ONLY.split())
"""Classes for text that is read aloud only, by convention: their rules are mostly in a sheet that the page links to."""

COLOURS = frozenset(("color", "background", "background-color", "background-image"))


def drop_hidden(tree: Tree) -> bool:
    """Drop the elements of a page that are hidden, and the texts of those whose own texts are.

    Return whether all of its own style sheets were read.
    """
    sheet = read_sheets(
        "".join(child for child in node.children if isinstance(child, str))
        for node in tree.order
        if node.tag == "style" and "print" not in node.attributes.get("media", "")
    )
    tree.root.look = Look(above=frozenset())
    for node in tree.order[1:]:
        parent, attributes, tag = node.parent, node.attributes, node.tag
        assert parent is not None
        is_silent = tag in SILENT or (tag == "dialog" and "open" not in attributes)
        if is_silent or parent.is_dropped or (attributes and _is_hidden_by_attributes(attributes)):
            node.is_dropped = True
            continue
        look = parent.look
        values = sheet.match(node, look.above)
        if attributes and ("color" in attributes or "bgcolor" in attributes):
            values = _read_attributes(node) | (values or {})
        if values and tag in ("html", "body"):
            # a page that hides itself as a whole shows itself by a script
            values = {name: value for name, value in values.items() if name in COLOURS}
        if values:
            if is_removed(values):
                node.is_dropped = True
                continue
            look = inherit(values, look)
        if sheet.names_above and (names := sheet.names_above.intersection(name_element(node))) and not names <= look.above:
            look = replace(look, above=look.above | names)
        node.look = look
        if not look.shows_text:
            node.children = [child for child in node.children if isinstance(child, Element)]
    return not sheet.is_cut


def _is_hidden_by_attributes(attributes: Mapping[str, str]) -> bool:
    if "hidden" in attributes and attributes["hidden"].lower() != "false":
        return True
    if "aria-hidden" in attributes and attributes["aria-hidden"].strip().lower() == "true":
        return "fallback-image" not in attributes.get("class", "")
    if "popover" in attributes:
        return True
    classes = attributes.get("class")
    return classes is not None and not READER_ONLY.isdisjoint(classes.lower().split())


def _read_attributes(node: Element) -> dict[str, str]:
    values = {}
    if node.tag in ("font", "basefont") and "color" in node.attributes:
        values["color"] = node.attributes["color"].strip().lower()
    if "bgcolor" in node.attributes:
        values["background-color"] = node.attributes["bgcolor"].strip().lower()
    return values
