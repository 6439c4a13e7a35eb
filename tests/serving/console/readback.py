"""What pages show, read back: the numbers of their `data` elements, and their text."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser


def read_numbers(markup: str) -> list[str]:
    """Return the value of every number on a page, in its order."""
    return [html.unescape(value) for value in re.findall(r'<data class="number" value="([^"]*)">', markup)]


def find_section(markup: str, name: str, *, tag: str = "<section ") -> str:
    """Return the markup of the section with this id. Raise `AssertionError` where there is none."""
    match = re.search(rf'{tag}id="{name}".*?</section>', markup, re.DOTALL)
    assert match is not None, name
    return match[0]


QUOTED = frozenset(["bdi", "code", "data", "pre", "svg", "textarea", "time"])
"""Elements whose text is somebody else's, or is read back in another way."""

NUMBER = re.compile(r"(?<![\w.,:/-])[0-9][0-9,]*(?:\.[0-9]+)?(?![\w:/-])", re.ASCII)


class _MainReader(HTMLParser):
    """Collects the page's own text in `main`, and the values of its fields."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.fields: list[str] = []
        self._depth: dict[str, int] = dict.fromkeys(["main", *QUOTED], 0)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._depth:
            self._depth[tag] += 1
        self.fields.extend(value or "" for name, value in attrs if tag in ("input", "option") and name == "value")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._depth:
            self._depth[tag] -= 1

    def handle_data(self, data: str) -> None:
        if self._depth["main"] and not any(self._depth[tag] for tag in QUOTED):
            self.texts.append(data)


def read_main(markup: str) -> tuple[list[str], list[str]]:
    """Return the numbers that the page writes in sentences, and the values of the fields of its forms."""
    reader = _MainReader()
    reader.feed(markup)
    return [number.replace(",", "") for text in reader.texts for number in NUMBER.findall(text)], reader.fields
