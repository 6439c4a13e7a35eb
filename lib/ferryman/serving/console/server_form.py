"""The form of an MCP server: how requests to it are authenticated, with the values of headers, which no page shows again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.remote_servers.server import HEADERS_MAX, ServerAuth
from ferryman.serving.console.form_fields import FormField, read_body
from ferryman.serving.console.forms import Form

AUTH_LABELS = {
    ServerAuth.NONE: "without a key",
    ServerAuth.HEADERS: "by headers",
    ServerAuth.BEARER: "by a token (Authorization: Bearer)",
    ServerAuth.OAUTH: "by a person's consent (OAuth)",
}
NAME_FIELD = FormField(
    name="name",
    label="Name",
    is_required=True,
    help="At most 24 lower-case letters, digits, single _ and -. Models see its tools as NAME__TOOL",
)
URL_FIELD = FormField(name="url", label="URL", is_required=True, help="The endpoint, for example https://mcp.example.com/mcp")
AUTH_FIELDS = (
    FormField(
        name="auth",
        label="Access",
        kind="choice",
        options=[(auth.value, label) for auth, label in AUTH_LABELS.items()],
    ),
    FormField(
        name="bearer",
        label="Token",
        kind="secret",
        when_empty="omit",
        help="For access by a token; sealed at once, sent only to this server",
    ),
)
FIELDS = (NAME_FIELD, URL_FIELD, *AUTH_FIELDS)
OPEN_ROWS = 2
"""How many rows for headers are open; the others are behind a fold."""


def read_server(form: Form) -> dict[str, Any]:
    """Return what the API is sent for a new server: of a token and headers, what its authentication has use for."""
    body = read_body(FIELDS, form)
    auth, token = body.pop("auth"), body.pop("bearer", None)
    has_token = auth == ServerAuth.BEARER and token is not None
    body["auth"] = {"type": auth, **({"token": token} if has_token else {})}
    return body if auth == ServerAuth.NONE else {**body, **read_headers(form, names=True)}


def read_headers(form: Form, *, names: bool) -> dict[str, Any]:
    """Return the headers that were typed, and the `names` that their values are stored under, where those are asked for."""
    headers, stored = dict[str, str](), dict[str, str]()
    for row in range(HEADERS_MAX):
        header, value, name = (form.get(f"{what}.{row}", ("",))[0] for what in ("header", "value", "stored"))
        if header.strip() or value:
            headers[header.strip()] = value
            if name.strip():
                stored[header.strip()] = name.strip()
    return {"headers": headers, **({"credentials": stored} if names else {})}


def list_rows(form: Form) -> list[dict[str, str]]:
    """Return the rows for headers as they were typed, without their values."""
    typed = ("header", "stored")
    return [{what: form.get(f"{what}.{row}", ("",))[0] for what in typed} for row in range(HEADERS_MAX)]


def place_errors(errors: Mapping[str, str], form: Form) -> dict[str, str]:
    """Return the API's errors by the fields of this form: those of a header beside its row."""
    rows = {row["header"].strip(): number for number, row in reversed([*enumerate(list_rows(form))])}
    placed = {}
    for name, message in errors.items():
        where, _, header = name.partition(".")
        if where in ("headers", "credentials") and header in rows:
            placed[f"{'header' if where == 'headers' else 'stored'}.{rows[header]}"] = message
        else:
            placed[{"auth.token": "bearer", "auth.type": "auth"}.get(name, name)] = message
    return placed


def label_errors(errors: Mapping[str, str]) -> dict[str, str]:
    """Return the errors of this form by what the page calls its fields."""
    labels = {item.name: item.label for item in FIELDS}
    for row in range(HEADERS_MAX):
        labels |= {f"header.{row}": f"Header {row + 1}", f"stored.{row}": f"Header {row + 1}, stored as"}
    return {labels.get(name, name): message for name, message in errors.items()}
