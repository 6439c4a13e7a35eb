"""The search for the main text of a page: under less strict rules where little is found, all of the page where nothing is."""

from __future__ import annotations

from ferryman.pages.cleaning import clean
from ferryman.pages.figures import sum_up
from ferryman.pages.main_text import find_main
from ferryman.pages.search_rules import ATTEMPTS, drop_unlikely
from ferryman.pages.tree import Element, Tree

TEXT_MIN = 500
"""Characters that a main text has: where fewer are found, they are searched again under less strict rules."""

LARGE = 50_000
"""Elements of a page that is searched twice at most: with nearly no text in so many of them, no rule finds more."""


def extract(tree: Tree) -> list[Element]:
    """Return the elements that hold the main text, in the order of the page; all else below them is dropped."""
    order = []
    for node in tree.order:
        if node.parent is not None and node.parent.is_dropped:
            node.is_dropped = True
        if not node.is_dropped:
            order.append(node)
    body = next((node for node in order if node.tag == "body"), tree.root)
    best: tuple[int, list[Element], list[Element]] | None = None
    for rules in ATTEMPTS if len(order) < LARGE else (ATTEMPTS[0], ATTEMPTS[-1]):
        for node in order:
            node.is_dropped = False
        if rules.drops_unlikely:
            drop_unlikely(order)
        searched = [node for node in order if not node.is_dropped]
        roots = find_main(searched, rules) or [body]
        clean(roots, rules)
        length = sum(root.text_length for root in roots)
        if best is None or length > best[0]:
            best = length, roots, [node for node in order if node.is_dropped]
        if length >= TEXT_MIN:
            return roots
    assert best is not None
    for node in order:
        node.is_dropped = False
    if not best[0]:
        sum_up(order)
        return [body]
    for node in best[2]:
        node.is_dropped = True
    return best[1]
