"""Markdown that others wrote: drawn without what a terminal obeys, and written without what a viewer fetches or runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.markdown import Markdown

from ferryman.cli.screen import neutralize_controls

_IMAGE, _RAW = "image", ("html_inline", "html_block")


def draw_markdown(text: str) -> Markdown:
    """Return `text` to be drawn. A character may also be written as an entity (`&#x202e;`): it shows all the same."""
    drawn = Markdown(neutralize_controls(text), hyperlinks=False)
    for token in _walk(drawn.parsed):
        token.content = neutralize_controls(token.content)
    return drawn


def write_harmless(text: str) -> str:
    """Return `text` for a file of Markdown: its images are no images, and its HTML is text.

    A viewer would fetch an image from a URL that the model chose, with whatever the model put into it.
    """
    lines = neutralize_controls(text).split("\n")
    for token in Markdown("\n".join(lines)).parsed:
        kinds = {token.type, *(child.type for child in token.children or ())}
        if token.map is None or kinds.isdisjoint({_IMAGE, *_RAW}):
            continue
        for number in range(token.map[0], min(token.map[1], len(lines))):
            lines[number] = lines[number].replace("![", "!\\[").replace("<", "&lt;")
    return "\n".join(lines)


def _walk(tokens: Any) -> Iterator[Any]:
    for token in tokens:
        yield token
        yield from token.children or ()
