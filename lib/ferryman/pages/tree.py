"""A page as a tree: read by libxml2 as a stream, so that its depth, its elements and its attributes stay bounded.

No document of libxml2 is built: it takes some hundred bytes for every element, and its parsers of other libraries that follow
the HTML standard to the letter take quadratic time for formatting elements that are never closed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice

from lxml import etree

from ferryman.pages.look import Look

ELEMENTS_MAX = 100_000
"""Elements of a page that are read."""

DEPTH_MAX = 1_000
"""Levels of a page that are read: browsers allow some hundred. An end tag without its start costs time for each level."""

PIECE_CHARACTERS = 4_096
"""Characters that are parsed before the limits are checked again."""

ATTRIBUTE_CHARACTERS_MAX, SHORT_MAX = 4_096, 256

_SILENT = (
    "annotation annotation-xml applet area audio base basefont button canvas col colgroup command datalist embed frame frameset"
    " iframe img input keygen link map meta meter noembed noframes noscript object optgroup option param picture progress rp"
    " script select source style svg template textarea title track video"
)
SILENT = frozenset(_SILENT.split())
"""Elements whose content no reader sees as text, or which are controls."""

LONG = frozenset(("class", "content", "href", "style", "src"))
"""Attributes of which `ATTRIBUTE_CHARACTERS_MAX` characters are used; of others, some hundred."""

ATTRIBUTES_MAX = 32  # of one element


class Limit(StrEnum):
    """Why the rest of a page was not read."""

    ELEMENTS = f"more than {ELEMENTS_MAX:,} elements"
    DEPTH = f"elements nested more than {DEPTH_MAX:,} levels deep"


class Element:
    """An element: `children` are elements and texts in their order. `is_dropped`: it is no part of the text.

    The figures below are sums over the element and all that it contains and that is not dropped: see `figures`.
    """

    __slots__ = (
        "attributes",
        "children",
        "commas",
        "heading_length",
        "images",
        "inputs",
        "is_dropped",
        "items",
        "link_length",
        "list_length",
        "look",
        "own_commas",
        "own_length",
        "paragraphs",
        "parent",
        "score",
        "tag",
        "text_length",
        "textish_length",
    )

    attributes: Mapping[str, str]
    commas: int
    heading_length: int
    images: int
    inputs: int
    items: int
    link_length: int
    list_length: int
    look: Look
    own_commas: int
    own_length: int
    paragraphs: int
    text_length: int
    textish_length: int

    def __init__(self, tag: str, attributes: Mapping[str, str], parent: Element | None) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Element | str] = []
        self.is_dropped = False
        self.score: float | None = None
        self.own_length = -1

    @property
    def name(self) -> str:
        """The class and the id, by which Readability tells what an element is."""
        return f"{self.attributes.get('class', '')} {self.attributes.get('id', '')}" if self.attributes else " "

    def elements(self) -> Iterator[Element]:
        """Yield the elements directly below."""
        return (child for child in self.children if isinstance(child, Element))


_NONE: Mapping[str, str] = {}


def _keep(attributes: Mapping[str, str]) -> Mapping[str, str]:
    return {
        name: value if len(value) <= SHORT_MAX else value[: ATTRIBUTE_CHARACTERS_MAX if name in LONG else SHORT_MAX]
        for name, value in islice(attributes.items(), ATTRIBUTES_MAX)
    }


class _Target:
    """What lxml calls for each tag and text of the page."""

    def __init__(self) -> None:
        self.root = self.node = Element("", _NONE, None)
        self.order = [self.root]
        self.depth = 0
        self._texts: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._texts:
            self._join()
        needed = _keep(attributes) if attributes else _NONE
        node = Element(tag, needed, self.node)
        self.node.children.append(node)
        self.order.append(node)
        self.node = node
        self.depth += 1

    def end(self, tag: str) -> None:
        if self._texts:
            self._join()
        node = self.node
        if tag == "script" and "ld+json" not in node.attributes.get("type", ""):
            node.children = []  # often most of a page
        if node.parent is not None:
            self.node = node.parent
            self.depth -= 1

    def data(self, text: str) -> None:
        self._texts.append(text)

    def close(self) -> None:
        self._join()

    def _join(self) -> None:
        """Add a text, of which the parser tells each entity by itself."""
        self.node.children.append("".join(self._texts))
        self._texts.clear()


class Tree:
    """A parsed page: `root` without a tag, and all elements in their order."""

    __slots__ = ("limit", "order", "root")

    def __init__(self, root: Element, order: list[Element], limit: Limit | None) -> None:
        self.root, self.order, self.limit = root, order, limit


def parse(pieces: Iterable[str]) -> Tree:
    """Return the tree of a page whose text comes in pieces. Never raises; what is beyond a limit is left out, and told."""
    target = _Target()
    parser = etree.HTMLParser(target=target, encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    limit = None
    for part in _divide(pieces):
        parser.feed(part.encode("utf-8", "replace"))
        if target.depth > DEPTH_MAX:
            limit = Limit.DEPTH
        elif len(target.order) > ELEMENTS_MAX:
            limit = Limit.ELEMENTS
        if limit:
            break
    else:
        with contextlib.suppress(etree.XMLSyntaxError):  # of an empty page
            parser.close()
    target.close()
    return Tree(target.root, target.order, limit)


def _divide(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        clean = piece.replace("\0", "\ufffd")
        for start in range(0, len(clean), PIECE_CHARACTERS):
            yield clean[start : start + PIECE_CHARACTERS]
