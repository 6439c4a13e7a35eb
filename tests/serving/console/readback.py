"""What pages show, read back: the numbers of their `data` elements, and their text."""

from __future__ import annotations

import html
import re


def read_numbers(markup: str) -> list[str]:
    """Return the value of every number on a page, in its order."""
    return [html.unescape(value) for value in re.findall(r'<data class="number" value="([^"]*)">', markup)]


def find_section(markup: str, name: str) -> str:
    """Return the markup of the section with this id. Raise `AssertionError` where there is none."""
    match = re.search(rf'<section id="{name}".*?</section>', markup, re.DOTALL)
    assert match is not None, name
    return match[0]
