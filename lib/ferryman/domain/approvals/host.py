"""The host that what waits would be sent to, as its canonical form says."""

from __future__ import annotations

import json

from ferryman.domain.http.url import InvalidUrlError, parse_url


def find_host(form: str) -> str | None:
    """Return the host of the request that a canonical form is of; None where it is of no request."""
    try:
        what = json.loads(form)["what"]
        return parse_url(what["url"]).host if what["kind"] == "http" else None
    except (InvalidUrlError, ValueError, LookupError, TypeError):
        return None  # it is of no request, or a document that was written by somebody else
