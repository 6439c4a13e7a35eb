"""The consent page: what a person sees, and may say."""

from __future__ import annotations

import html
from collections.abc import Mapping

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Consent</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }}
button {{ font: inherit; padding: .4rem 1rem }}
</style>
</head><body><main><h1>{host}</h1>
<p><strong>{client}</strong> asks to act for you{scopes}.</p>
<form method="post" action="/authorize">{hidden}
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button></form></main></body></html>"""


def consent(host: str, parameters: Mapping[str, str]) -> str:
    """Return the page for an authorization request; what it asks is shown as text."""
    hidden = "".join(
        f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">' for name, value in parameters.items()
    )
    scope = parameters.get("scope", "")
    scopes = f", with {html.escape(scope)}" if scope else ""
    return _PAGE.format(
        host=html.escape(host), client=html.escape(parameters.get("client_id", "")), scopes=scopes, hidden=hidden
    )
