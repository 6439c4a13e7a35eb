"""Paragraphs of Markdown: running text, with emphasis, code and links in it."""

from __future__ import annotations

import re

from ferryman.domain.http.links import resolve
from ferryman.pages.tree import Element

MARKS_MAX = 8
EMPHASIS = {"b": "**", "strong": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "samp": "`"}
LINK = "a"
_SPACES = re.compile(r"[^\S\n]+")
_BREAK = re.compile(r"(?<! ) *\n[ \n]*")
_ANCHORS = frozenset("¶#§🔗∞")  # what links a headline to itself


class Paragraph:
    """The paragraph that is being written on a page at `base`; `pending` is the number of its characters."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._line: list[str] = []
        self._marks: list[tuple[Element, int, int]] = []
        self._number = 0
        """The number of the paragraph: a mark that began in another one is none."""
        self.pending = 0

    def add(self, text: str) -> None:
        """Add a text of the page."""
        self._line.append(_SPACES.sub(" ", text.replace("\n", " ")))
        self.pending += len(text)

    def put(self, sign: str) -> None:
        """Add a sign of ours: a break, a space or a quotation mark."""
        self._line.append(sign)

    def begin_mark(self, node: Element) -> None:
        """Begin what is emphasized, or linked."""
        if len(self._marks) < MARKS_MAX:
            self._marks.append((node, len(self._line), self._number))

    def end_mark(self, node: Element) -> None:
        """End what `node` has begun, if anything."""
        if self._marks and self._marks[-1][0] is node:
            _, start, number = self._marks.pop()
            if number == self._number:
                self._wrap(node, start)
            elif node.tag == LINK:
                self._wrap(node, 0)

    def end(self) -> str:
        """Return the paragraph, and begin the next one."""
        if self._marks and self._line:
            for node, start, number in self._marks:
                if node.tag == LINK:  # a link around several blocks is a link in each
                    self._wrap(node, start if number == self._number else 0)
                    break
        self._number += 1
        self.pending = 0
        text = _BREAK.sub("\n", _SPACES.sub(" ", "".join(self._line))).strip()
        self._line = []
        return text

    def _wrap(self, node: Element, start: int) -> None:
        """Wrap what was written since `start` in the mark of `node`, without the spaces around it."""
        inner = "".join(self._line[start:])
        text = inner.strip()
        if not text:
            return
        if node.tag == LINK:
            href = node.attributes.get("href", "")
            if href.startswith("#") and text in _ANCHORS:
                self._line[start:] = []
                return
            url = resolve(self._base, href)
            if url is None:
                return
            text = text.replace("\n", " ").replace("[", "(").replace("]", ")")
            marked = f"[{text}]({url})"
        else:
            mark = EMPHASIS[node.tag]
            if mark == "`" and "`" in text:
                return
            marked = f"{mark}{text}{mark}"
        before = inner[: len(inner) - len(inner.lstrip())]
        after = inner[len(inner.rstrip()) :]
        self._line[start:] = [before + marked + after]
