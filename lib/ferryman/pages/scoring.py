"""The main text of a page, as Mozilla's Readability finds it: paragraphs give points to the elements that hold them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ferryman.pages.figures import BLOCKS, COMMAS, count_weight, density, sum_up
from ferryman.pages.tables import find_data_tables
from ferryman.pages.tree import Element

TEXT_MIN = 500
"""Characters that a main text has: where fewer are found, they are searched again under less strict rules."""

PARAGRAPH_MIN, CELL_MAX = 25, 400
WRAPPED_MAX = 8  # elements and texts in a <div> around one paragraph
LEVELS = 5
TOP = 5
_UNLIKELY = re.compile(
    r"-ad-|ai2html|banner|breadcrumbs|combx|comment|community|cover-wrap|disqus|extra|footer|gdpr|header|legends|menu|related|remark"
    r"|replies|rss|shoutbox|sidebar|skyscraper|social|sponsor|supplemental|ad-break|agegate|pagination|pager|popup|yom-remote",
    re.IGNORECASE,
)
_LIKELY = re.compile(r"and|article|body|column|content|main|mathjax|shadow", re.IGNORECASE)
UNLIKELY_ROLES = frozenset(("menu", "menubar", "complementary", "navigation", "alert", "alertdialog", "dialog"))
_SCORED = frozenset(("section", "h2", "h3", "h4", "h5", "h6", "p", "pre"))
_BASE = {
    **{"div": 5, "pre": 3, "td": 3, "blockquote": 3},
    **dict.fromkeys(("address", "ol", "ul", "dl", "dd", "dt", "li", "form"), -3),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "th"), -5),
}
_SENTENCE_END = re.compile(r"\.( |$)")


@dataclass(frozen=True, slots=True)
class SearchRules:
    """How strict a search is."""

    drops_unlikely: bool = True
    weighs_names: bool = True
    cleans: bool = True


ATTEMPTS = (SearchRules(), SearchRules(False), SearchRules(False, False), SearchRules(False, False, False))


def list_kept(root: Element) -> Iterator[Element]:
    """Yield `root` and what is below it and not dropped, in the order of the page."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not node.is_dropped:
            yield node
            waiting.extend([child for child in reversed(node.children) if isinstance(child, Element)])


def drop_unlikely(order: list[Element]) -> None:
    """Drop the elements that by their names or roles hold no main text, with all below them; `order` is that of the page."""
    inside: set[Element] = set()  # tables and code, and what is in them
    known: dict[str, bool] = {}
    for node in order:
        parent, attributes = node.parent, node.attributes
        if parent is not None and parent.is_dropped:
            node.is_dropped = True
            continue
        is_inside = node.tag in ("table", "code") or parent in inside
        if is_inside:
            inside.add(node)
        if not attributes or node.tag in ("body", "html", "a"):
            continue
        if attributes.get("role") in UNLIKELY_ROLES:
            node.is_dropped = True
        elif not is_inside and ("class" in attributes or "id" in attributes):
            name = node.name
            if name not in known:
                known[name] = bool(_UNLIKELY.search(name)) and not _LIKELY.search(name)
            node.is_dropped = known[name]


def find_main(order: list[Element], rules: SearchRules) -> list[Element]:
    """Return the elements that hold the main text; their figures, and those of all in `order`, are set.

    `order` holds what is not dropped. Empty where no paragraph is long enough.
    """
    sum_up(order)
    for node in order:
        node.score = None
    candidates = _score(order, rules)
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


def _score(order: list[Element], rules: SearchRules) -> list[Element]:
    candidates: list[Element] = []

    def score(parent: Element | None, length: int, commas: int) -> None:
        if length < PARAGRAPH_MIN:
            return
        points = 2 + commas + min(length // 100, 3)
        level = 0
        while parent is not None and parent.parent is not None and level < LEVELS:
            if parent.score is None:
                parent.score = _BASE.get(parent.tag, 0) + (count_weight(parent) if rules.weighs_names else 0)
                candidates.append(parent)
            parent.score += points / (1, 2, 6, 9, 12)[level]
            parent = parent.parent
            level += 1

    for node in order:
        if node.tag == "td":
            _score_cell(node, score)
        elif node.tag in _SCORED:
            parent = node.parent
            if parent is not None and parent.tag == "div" and _is_wrapper(parent, node):
                parent = parent.parent  # a <div> around a paragraph is that paragraph
            score(parent, node.text_length, node.commas)
        elif node.tag == "div":
            if not has_block(node):
                node.tag = "p"
                score(node.parent, node.text_length, node.commas)
            else:
                for length, commas in _find_runs(node):
                    score(node, length, commas)
    return candidates


def _score_cell(node: Element, score: Callable[[Element | None, int, int], None]) -> None:
    """Count a cell: a short one is a paragraph, one that holds paragraphs or is as long as several is where they are."""
    if has_block(node):
        for length, commas in _find_runs(node):
            score(node, length, commas)
    else:
        score(node if node.text_length > CELL_MAX else node.parent, node.text_length, node.commas)


def has_block(node: Element, level: int = 0) -> bool:
    """Tell whether an element holds blocks that are not dropped, directly or in inline elements, some levels deep."""
    for child in node.children:
        if not isinstance(child, str) and not child.is_dropped:
            if child.tag in BLOCKS:
                return True
            if level < 3 and child.children and has_block(child, level + 1):
                return True
    return False


def _is_wrapper(node: Element, only: Element) -> bool:
    if len(node.children) > WRAPPED_MAX or any(isinstance(child, str) and child.strip() for child in node.children):
        return False
    remaining = [child for child in node.elements() if not child.is_dropped]
    return remaining == [only] and only.tag == "p" and density(node.link_length, node) < 0.25


def _find_runs(node: Element) -> Iterator[tuple[int, int]]:
    """Yield length and commas of each run of texts and inline elements between the blocks of a <div>."""
    length = commas = 0
    for child in node.children:
        if isinstance(child, str):
            if text := child.strip():
                length += len(text)
                commas += len(COMMAS.findall(text))
        elif child.tag in BLOCKS:
            yield length, commas
            length = commas = 0
        elif not child.is_dropped:
            length += child.text_length
            commas += child.commas
    yield length, commas


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
        top.score = float(_BASE.get(top.tag, 0) + (count_weight(top) if rules.weighs_names else 0))
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
        top.score = float(_BASE.get(top.tag, 0) + (count_weight(top) if rules.weighs_names else 0))
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


def read_text(node: Element, characters: int, elements: int = 256) -> str:
    """Return the text of an element in one line: about `characters` of it, of the first `elements` in it."""
    parts, length = [], 0
    waiting: list[Element | str] = [node]
    while waiting and length < characters:
        child = waiting.pop()
        if isinstance(child, str):
            parts.append(child)
            length += len(child)
        elif elements and not child.is_dropped:
            elements -= 1
            if child.tag in BLOCKS or child.tag == "br":
                parts.append(" ")
            waiting.extend(reversed(child.children))
    return " ".join("".join(parts).split())
