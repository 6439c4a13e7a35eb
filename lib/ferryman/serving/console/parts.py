"""Parts: elements of a rendered page as trees of names, attributes and text, from which a script builds them.

No script here parses markup: `[tag, {attribute: value}, [children]]`, where a child is a tree or a text.
"""

from __future__ import annotations

from collections.abc import Collection
from html.parser import HTMLParser
from typing import Any

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
PREFORMATTED = ("pre", "textarea")
Tree = list[Any]


class _PartReader(HTMLParser):
    """Reads markup that our templates made: every element is closed, and of no other source."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: Tree = ["", {}, []]
        self.by_id: dict[str, Tree] = {}
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        tree: Tree = [tag, attributes, []]
        self._open[-1][2].append(tree)
        if "id" in attributes:
            self.by_id[attributes["id"]] = tree
        if tag not in VOID:
            self._open.append(tree)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open[-1][0] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        tag, _, children = self._open[-1]
        if tag in PREFORMATTED and not children:
            data = data.removeprefix("\n")  # as a browser does that reads markup
        if data:
            children.append(data)


def read_trees(markup: str) -> list[Tree]:
    """Return the trees of a piece of rendered markup, without the text between them."""
    reader = _read(markup)
    return [child for child in reader.root[2] if not isinstance(child, str)]


def find_parts(markup: str, ids: Collection[str]) -> dict[str, Tree]:
    """Return the trees of the elements that have one of these `ids`; those that are not there are left out."""
    known = _read(markup).by_id
    return {name: known[name] for name in ids if name in known}


def _read(markup: str) -> _PartReader:
    reader = _PartReader()
    reader.feed(markup)
    reader.close()
    return reader
