"""Forms of the approval page: read with each field once, and refused where another site sends them (CSRF)."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

FIELDS_MAX = 700
"""A form with five questions of twenty fields, some of which are lists of choices."""


def refuse_foreign(request: Request) -> None:
    """Raise 403 for a form that a page of another origin sends, as browsers say."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_foreign = site is not None and site not in ("same-origin", "none")
    if site is None and origin is not None:
        is_foreign = origin.partition("://")[2] != request.headers.get("host", "")
    if is_foreign:
        raise HTTPException(403, "this form was sent by a page of another site")


def read_form(body: bytes) -> dict[str, str]:
    """Return the fields of a form. Raise 400 where it is none, or names one twice."""
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict")
    except ValueError:
        raise HTTPException(400, "the body is no form") from None
    if len({name for name, _ in pairs}) != len(pairs):
        raise HTTPException(400, "the form names a field twice")
    return dict(pairs)


def read_number(text: str) -> int:
    """Return a number of one digit; 0, which is no number of sends, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) == 1 else 0
