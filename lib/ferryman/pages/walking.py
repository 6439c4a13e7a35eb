"""Walking: what is below an element and not dropped, and its text."""

from __future__ import annotations

from collections.abc import Iterator

from ferryman.pages.figures import BLOCKS
from ferryman.pages.tree import Element


def list_kept(root: Element) -> Iterator[Element]:
    """Yield `root` and what is below it and not dropped, in the order of the page."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not node.is_dropped:
            yield node
            waiting.extend([child for child in reversed(node.children) if isinstance(child, Element)])


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
