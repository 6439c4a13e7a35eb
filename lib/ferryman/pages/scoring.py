"""Scoring: paragraphs give points to the elements that hold them, as in Mozilla's Readability."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ferryman.pages.figures import BLOCKS, COMMAS, count_weight, density
from ferryman.pages.search_rules import SearchRules
from ferryman.pages.tree import Element

PARAGRAPH_MIN, CELL_MAX = 25, 400
WRAPPED_MAX = 8  # elements and texts in a <div> around one paragraph
LEVELS = 5
_SCORED = frozenset(("section", "h2", "h3", "h4", "h5", "h6", "p", "pre"))
_BASE = {
    **{"div": 5, "pre": 3, "td": 3, "blockquote": 3},
    **dict.fromkeys(("address", "ol", "ul", "dl", "dd", "dt", "li", "form"), -3),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "th"), -5),
}


def find_base(node: Element, rules: SearchRules) -> float:
    """Return the points that an element has before any paragraph gives it some."""
    return _BASE.get(node.tag, 0) + (count_weight(node) if rules.weighs_names else 0)


def score_paragraphs(order: list[Element], rules: SearchRules) -> list[Element]:
    """Have each paragraph in `order` give points to the elements that hold it; return those that have any."""
    candidates: list[Element] = []

    def score(parent: Element | None, length: int, commas: int) -> None:
        if length < PARAGRAPH_MIN:
            return
        points = 2 + commas + min(length // 100, 3)
        level = 0
        while parent is not None and parent.parent is not None and level < LEVELS:
            if parent.score is None:
                parent.score = find_base(parent, rules)
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
