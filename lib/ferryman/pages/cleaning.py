"""Cleaning of the main text: lists of links, forms, advertisements and the like inside of it are left out."""

from __future__ import annotations

import re

from ferryman.pages.figures import add_own, add_to_parent, count_weight, density
from ferryman.pages.search_rules import SearchRules
from ferryman.pages.tables import find_data_tables
from ferryman.pages.tree import Element
from ferryman.pages.walking import list_kept, read_text

_CONDITIONAL = frozenset(("form", "fieldset", "table", "ul", "div"))
_NEVER = frozenset(("footer", "aside", "nav"))
_SHARE = re.compile(r"(\b|_)(share|sharedaddy)(\b|_)", re.IGNORECASE)
SHARE_MAX = 500
_EMPTY_WORDS = re.compile(
    r"(ad(vertising|vertisement)?|pub(licité)?|werb(ung)?|anzeige|广告|реклама|anuncio|publicidad)"
    r"|(loading|正在加载|загрузка|chargement|cargando)(…|\.\.\.)?",
    re.IGNORECASE,
)


def clean(roots: list[Element], rules: SearchRules) -> None:
    """Drop what is no main text below `roots`, from the leaves up; the figures are those of what remains."""
    for root in roots:
        _clean(root, rules)


def _clean(root: Element, rules: SearchRules) -> None:
    order = list(list_kept(root))
    tables = find_data_tables(order)
    protected: set[Element] = set()  # what is in tables of data, and in code
    in_figure: set[Element] = set()
    for node in order:
        if node in tables or node.tag == "code" or node.parent in protected:
            protected.add(node)
        if node.tag == "figure" or node.parent in in_figure:
            in_figure.add(node)
    holds_table: set[Element] = set()
    for node in order:
        add_own(node)
    for node in reversed(order):
        if node is not root and _is_dropped(node, rules, node in protected or node in holds_table, node in in_figure):
            node.is_dropped = True
        elif node is not root and node.parent is not None:
            add_to_parent(node, node.parent)
            if node in tables or node in holds_table:
                holds_table.add(node.parent)


def _is_dropped(node: Element, rules: SearchRules, is_protected: bool, is_in_figure: bool) -> bool:
    tag = node.tag
    if tag in _NEVER:
        return True
    if node.attributes and node.text_length < SHARE_MAX and _is_for_sharing(node):
        return True
    if tag in ("h1", "h2") and rules.weighs_names and count_weight(node) < 0:
        return True
    if tag == "p" and not node.text_length and not node.images:
        return True
    if tag not in _CONDITIONAL or not rules.cleans or is_protected:
        return False
    weight = count_weight(node) if rules.weighs_names else 0
    if weight < 0:
        return True
    return node.commas < 10 and _is_fishy(node, weight, is_in_figure)


def _is_for_sharing(node: Element) -> bool:
    names = (node.attributes.get("class"), node.attributes.get("id"))
    return any(name and "share" in name.lower() and _SHARE.search(name) for name in names)


def _is_fishy(node: Element, weight: int, is_in_figure: bool) -> bool:
    """Tell whether an element with few commas is no text, by what it consists of."""
    length = max(0, node.text_length - 1)
    if length < 40 and _EMPTY_WORDS.fullmatch(read_text(node, 60, 32)):
        return True
    is_list = node.tag in ("ul", "ol") or density(node.list_length, node) > 0.9
    links = density(node.link_length, node)
    is_fishy = (
        (not is_in_figure and node.images > 1 and node.paragraphs / node.images < 0.5)
        or (not is_list and node.items - 100 > node.paragraphs)
        or node.inputs > node.paragraphs // 3
        or (
            not is_list
            and not is_in_figure
            and density(node.heading_length, node) < 0.9
            and length < 25
            and (node.images == 0 or node.images > 2)
            and links > 0
        )
        or (not is_list and weight < 25 and links > 0.2)
        or (weight >= 25 and links > 0.5)
        or (node.images == 0 and density(node.textish_length, node) == 0)
    )
    if is_fishy and is_list:
        # a list in which every item is an image remains
        if any(sum(1 for _ in child.elements()) > 1 for child in node.elements()):
            return True
        return node.images != node.items
    return is_fishy
