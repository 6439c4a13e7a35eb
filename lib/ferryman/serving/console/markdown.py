"""Markdown of others as markup: raw HTML and images are left out, and a link shows its host and is followed only by a click."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from markupsafe import Markup, escape

from ferryman.serving.console.foreign_text import show_block, show_phrase

CHARACTERS_MAX = 200_000
"""A longer text is shown as it is, without being parsed."""

URL_CHARACTERS_MAX = 2_000
"""A link to a longer address is shown as it was written."""

LINK_CHARACTERS_MAX = 100_000
"""Limit of the addresses of all links together; further links lead nowhere.

A reference that is defined once can be used thousands of times.
"""

_URL = re.compile(
    r"https?://(?P<host>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?(?:[/?#].*)?", re.I | re.S
)
"""Matches an address whose written host is the one that a browser asks: no user name, no escape, exactly two slashes."""

_BUDGET = "characters"


def render_markdown(text: str) -> Markup:
    """Return the markup of `text`, in which every text is escaped and shows its hidden characters."""
    if len(text) > CHARACTERS_MAX:
        return Markup("<p class='plain'>{}</p>").format(show_block(text))
    parser = _build_parser()
    return Markup(parser.renderer.render(parser.parse(text), parser.options, {_BUDGET: LINK_CHARACTERS_MAX}))  # noqa: S704 - html is off, and each rule below escapes


@cache
def _build_parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")
    parser.validateLink = lambda url: len(url) <= URL_CHARACTERS_MAX and _URL.fullmatch(url) is not None  # type: ignore[method-assign] # its documented way
    parser.add_render_rule("text", lambda _, tokens, at, *__: str(escape(show_phrase(tokens[at].content))))
    parser.add_render_rule("code_inline", lambda _, tokens, at, *__: str(_write_code(tokens[at].content)))
    for name in ("fence", "code_block"):
        parser.add_render_rule(
            name, lambda _, tokens, at, *__: str(Markup("<pre>{}</pre>").format(_write_code(tokens[at].content)))
        )
    for name in ("th", "td"):
        # without its alignment, which would be a style
        parser.add_render_rule(f"{name}_open", lambda _, tokens, at, *__: f"<{tokens[at].tag}>")
    parser.add_render_rule("link_open", _open_link)
    parser.add_render_rule("link_close", lambda *_: "</a>")
    return parser


def _write_code(text: str) -> Markup:
    return Markup("<code>{}</code>").format(show_block(text.rstrip("\n")))


def _open_link(_: Any, tokens: Any, at: int, __: Any, env: Any) -> str:
    url = str(tokens[at].attrGet("href") or "")
    match = _URL.fullmatch(url)
    env[_BUDGET] -= len(url)
    if match is None or env[_BUDGET] < 0:
        return "<a>"
    opening = f'<a class="away" href="{escape(url)}" rel="noopener noreferrer" target="_blank">'
    return f'{opening}<span class="host">{escape(match["host"].lower())}</span> '
