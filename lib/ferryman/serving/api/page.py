"""The page /docs: the reference, rendered here from the OpenAPI document. It loads nothing and runs nothing."""

from __future__ import annotations

import base64
import hashlib
from asyncio import to_thread
from html import escape
from itertools import pairwise

from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response

from ferryman.serving.api.reference import write_reference

NOTE = "This page is rendered from the OpenAPI document at [/openapi.json](/openapi.json), which clients can be generated from."
STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem }
table { border-collapse: collapse; width: 100% }
td, th { border: 1px solid #8886; padding: .2rem .5rem; text-align: left; vertical-align: top }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
h3 { border-top: 1px solid #8886; padding-top: .8rem; font-family: ui-monospace, monospace }
"""
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


async def show(request: Request) -> Response:
    """Answer the page, made once: that takes some hundred milliseconds, in which others are answered."""
    app: FastAPI = request.app
    if not hasattr(app.state, "page"):
        app.state.page = await to_thread(lambda: render(write_reference(app.openapi(), NOTE), app.title))
    return HTMLResponse(app.state.page, headers=HEADERS)


def render(markdown: str, title: str) -> str:
    """Return the page of a Markdown text, without any HTML that the text may hold, and with a place at each heading."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", content.content.lower().replace(" ", "-"))
    body = parser.renderer.render(tokens, parser.options, {})
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body>{body}</body></html>'
