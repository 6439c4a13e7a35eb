"""Markdown of others as markup: raw HTML and images are left out, and a link shows its host and is followed only by a click."""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.foreign_text import show_block, show_phrase

CHARACTERS_MAX = 200_000
"""A longer text is shown as it is, without being parsed."""

SCHEMES = ("http", "https")


def render_markdown(text: str) -> Markup:
    """Return the markup of `text`, in which every text is escaped and shows its hidden characters."""
    if len(text) > CHARACTERS_MAX:
        return Markup("<p class='plain'>{}</p>").format(show_block(text))
    parser = _build_parser()
    return Markup(parser.renderer.render(parser.parse(text), parser.options, {}))  # noqa: S704 - html is off, and each rule below escapes


@cache
def _build_parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")
    parser.validateLink = lambda url: urlsplit(url).scheme in SCHEMES  # type: ignore[method-assign] # its documented way
    parser.add_render_rule("text", lambda _, tokens, at, *__: str(escape(show_phrase(tokens[at].content))))
    parser.add_render_rule("code_inline", lambda _, tokens, at, *__: str(_write_code(tokens[at].content)))
    for name in ("fence", "code_block"):
        parser.add_render_rule(
            name, lambda _, tokens, at, *__: str(Markup("<pre>{}</pre>").format(_write_code(tokens[at].content)))
        )
    parser.add_render_rule("link_open", _open_link)
    parser.add_render_rule("link_close", lambda *_: "</a>")
    return parser


def _write_code(text: str) -> Markup:
    return Markup("<code>{}</code>").format(show_block(text.rstrip("\n")))


def _open_link(_: Any, tokens: Any, at: int, *__: Any) -> str:
    url = str(tokens[at].attrGet("href") or "")
    host = show_text(urlsplit(url).hostname or "")
    opening = f'<a class="away" href="{escape(url)}" rel="noopener noreferrer" target="_blank">'
    return f'{opening}<span class="host">{escape(host)}</span> '
