"""The main text of a page, as Mozilla's Readability finds it: the element with the most points, and those beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ferryman.pages.figures import density, sum_up
from ferryman.pages.scoring import find_base, score_paragraphs
from ferryman.pages.search_rules import SearchRules
from ferryman.pages.tables import find_data_tables
from ferryman.pages.tree import Element
from ferryman.pages.walking import read_text

TOP = 5
_SENTENCE_END = re.compile(r"\.( |$)")


def find_main(order: list[Element], rules: SearchRules) -> list[Element]:
    """Return the elements that hold the main text; their figures, and those of all in `order`, are set.

    `order` holds what is not dropped. Empty where no paragraph is long enough.
    """
    sum_up(order)
    for node in order:
        node.score = None
    candidates = score_paragraphs(order, rules)
    for node in candidates:
        assert node.score is not None
        node.score *= 1 - density(node.link_length, node)
    candidates.sort(key=lambda node: -(node.score or 0))
    top = candidates[0] if candidates else None
    roots = [] if _is_top(top) or top is None else _join_siblings(_raise(top, candidates[1:TOP], rules))
    return _prefer_table(roots, order)


def _prefer_table(roots: list[Element], order: list[Element]) -> list[Element]:
    """Return what holds the largest table of data where that is longer than the main text, which it is no part of."""
    tables = [table for table in find_data_tables(order) if density(table.link_length, table) < 0.5]
    if not tables:
        return roots
    table = max(tables, key=lambda table: table.text_length)
    above = [table, *_ancestors(table)]
    if table.text_length <= sum(root.text_length for root in roots) or not set(above).isdisjoint(roots):
        return roots
    assert table.parent is not None
    return [table] if _is_top(table.parent) else [table.parent]


def _ancestors(node: Element) -> Iterator[Element]:
    while node.parent is not None:
        node = node.parent
        yield node


def _is_top(node: Element | None) -> bool:
    return node is None or node.tag in ("body", "html", "")


def _raise(top: Element, others: list[Element], rules: SearchRules) -> Element:
    """Return the element that holds the main text: `top`, or one above it that holds several that are nearly as good."""
    best = top.score or 0
    close = [set(_ancestors(node)) for node in others if best > 0 and (node.score or 0) / best >= 0.75]
    if len(close) >= 3:
        for above in _ancestors(top):
            if _is_top(above):
                break
            if sum(above in ancestors for ancestors in close) >= 3:
                top = above
                break
    if top.score is None:
        top.score = find_base(top, rules)
    last = top.score
    floor = last / 3
    for above in _ancestors(top):
        if _is_top(above):
            break
        if above.score is None:
            continue
        if above.score < floor:
            break
        if above.score > last:
            top = above
            break
        last = above.score
    while not _is_top(top.parent) and top.parent and sum(not child.is_dropped for child in top.parent.elements()) == 1:
        top = top.parent
    if top.score is None:
        top.score = find_base(top, rules)
    return top


def _join_siblings(top: Element) -> list[Element]:
    best = top.score or 0
    threshold = max(10, best * 0.2)
    assert top.parent is not None
    name = top.attributes.get("class", "")
    chosen = []
    for node in top.parent.elements():
        if node.is_dropped:
            continue
        bonus = best * 0.2 if name and node.attributes.get("class", "") == name else 0
        is_good = node is top or (node.score is not None and node.score + bonus >= threshold)
        if not is_good and node.tag == "p":
            links = density(node.link_length, node)
            is_good = (node.text_length > 80 and links < 0.25) or (
                0 < node.text_length < 80 and links == 0 and bool(_SENTENCE_END.search(read_text(node, 200)))
            )
        if is_good:
            chosen.append(node)
    return chosen
