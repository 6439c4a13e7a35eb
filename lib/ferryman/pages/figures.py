"""Figures of the elements, by which the main text is found: summed up from the leaves, once for all."""

from __future__ import annotations

import re

from ferryman.pages.tree import Element

COMMAS = re.compile("[,\u060c\ufe50\ufe10\ufe11\u2e41\u2e34\u2e32\uff0c\u3001]")
_POSITIVE = re.compile(r"article|body|content|entry|hentry|h-entry|main|page|pagination|post|text|blog|story", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"-ad-|hidden|^hid$| hid$| hid |^hid |banner|combx|comment|com-|contact|footer|gdpr|masthead|media|meta|outbrain|promo"
    r"|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping|tags|widget",
    re.IGNORECASE,
)
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form"
    " h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul"
)
BLOCKS = frozenset(_BLOCKS.split())
TEXTISH = frozenset(("blockquote", "dl", "div", "ol", "p", "pre", "table", "ul", "span", "li", "td"))
"""What a text is mostly in, for Readability."""

_COUNTERS = {"p": "paragraphs", "img": "images", "picture": "images", "li": "items", "input": "inputs"}


def count_weight(node: Element) -> int:
    """Return what the class and the id of an element tell, from -50 to 50."""
    weight = 0
    if node.attributes:
        for text in (node.attributes.get("class"), node.attributes.get("id")):
            if text:
                weight += 25 * (bool(_POSITIVE.search(text)) - bool(_NEGATIVE.search(text)))
    return weight


def sum_up(order: list[Element]) -> None:
    """Set the figures of elements, which come in the order of the page; those that are dropped count for nothing."""
    for node in order:
        add_own(node)
    for node in reversed(order):
        if not node.is_dropped and node.parent is not None:
            add_to_parent(node, node.parent)


def add_own(node: Element) -> None:
    """Set the figures of an element to those of its own texts."""
    if node.own_length < 0:
        _measure(node)
    node.text_length, node.commas = node.own_length, node.own_commas
    node.link_length = node.heading_length = node.list_length = node.textish_length = 0
    node.paragraphs = node.images = node.items = node.inputs = 0


def _measure(node: Element) -> None:
    length = commas = 0
    for child in node.children:
        if isinstance(child, str):
            text = child.strip()
            if text:
                length += 1 + (len(" ".join(text.split())) if "\n" in text or "  " in text or "\t" in text else len(text))
                commas += text.count(",") if text.isascii() else len(COMMAS.findall(text))
    node.own_length, node.own_commas = length, commas


def add_to_parent(node: Element, parent: Element) -> None:
    """Add the figures of an element that is complete to those of the element above it."""
    tag, length = node.tag, node.text_length
    parent.text_length += length
    parent.commas += node.commas
    parent.paragraphs += node.paragraphs
    parent.images += node.images
    parent.items += node.items
    parent.inputs += node.inputs
    counter = _COUNTERS.get(tag)
    if counter is not None:
        setattr(parent, counter, getattr(parent, counter) + 1)
    if tag == "a":
        href = node.attributes.get("href", "") if node.attributes else ""
        # a link to another place on the page counts for less
        parent.link_length += 3 * length // 10 if href.startswith("#") else length
    else:
        parent.link_length += node.link_length
    parent.heading_length += length if tag in HEADINGS else node.heading_length
    parent.list_length += length if tag in ("ul", "ol") else node.list_length
    parent.textish_length += length if tag in TEXTISH else node.textish_length


def density(part: float, node: Element) -> float:
    """Return which share of the text of an element a part of it is."""
    return part / node.text_length if node.text_length else 0.0
