"""Forms: read with each field once, or several times where the page says so, and refused from other sites (CSRF)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from ferryman import offload

FIELDS_MAX = 1_000
"""More than any form here has: five questions of twenty fields, some of which are lists of choices."""

NO_FORM = f"the body is no form of at most {FIELDS_MAX} fields"

SMALL_BYTES = 50_000
"""Of a form that is read at once, in some milliseconds; a larger one is read by a worker."""

Form = Mapping[str, tuple[str, ...]]
"""The values of each field, in the order in which they were sent."""


def is_foreign(request: Request) -> bool:
    """Tell whether a page of another origin sends this request, as browsers say."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is None and origin is not None:
        return origin.partition("://")[2] != request.headers.get("host", "")
    return site is not None and site not in ("same-origin", "none")


def refuse_foreign(request: Request) -> None:
    """Raise 403 for a form that a page of another origin sends."""
    if is_foreign(request):
        raise HTTPException(403, "this form was sent by a page of another site")


def read_form(body: bytes) -> dict[str, tuple[str, ...]]:
    """Return the fields of a form. Raise 400 where it is none, or has more than `FIELDS_MAX` fields."""
    fields = parse_form(body)
    if fields is None:
        raise HTTPException(400, NO_FORM)
    return fields


async def read_large_form(owner: str, body: bytes) -> dict[str, tuple[str, ...]]:
    """Return the fields of a form that takes long to read, as one with a document does. Raise as `read_form` does, and 413."""
    try:
        fields = await offload.run(owner, offload.DOCUMENT, parse_form, body)
    except (offload.OverBudgetError, offload.JobFailedError):
        raise HTTPException(413, "the form takes too long to read") from None
    if fields is None:
        raise HTTPException(400, NO_FORM)
    return fields


def parse_form(body: bytes) -> dict[str, tuple[str, ...]] | None:
    """Return the fields of a form, None where it is none of at most `FIELDS_MAX` fields."""
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict")
    except ValueError:
        return None
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        # browsers send line breaks as CR LF
        fields[name] = (*fields.get(name, ()), value.replace("\r\n", "\n"))
    return fields


offload.preload(parse_form)
