"""What a status of HTTP says, in words of ours: a peer's own reason phrase is not shown."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

RETRY_STATUSES = (429, 503)
"""Those whose `Retry-After` is shown."""


def is_redirect(status: int) -> bool:
    return 300 <= status < 400


def is_error(status: int) -> bool:
    """Tell whether the peer says that it did not do what it was asked: 4xx and 5xx, and what is beyond the standard."""
    return status >= 400


def name_status(status: int) -> str:
    """Return the number with its standard name: `404 Not Found`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def is_success(status: int, accepted: Collection[int] | None) -> bool:
    """Tell whether a call with this status did what it was asked: one of those `accepted`; None: any but an error."""
    return not is_error(status) if accepted is None else status in accepted


def get_code(status: int) -> str:
    """Return the code of a call that failed with `status`: the status's standard name in lower case, such as `not_found`."""
    if not is_error(status):
        return "unexpected_status"
    try:
        return HTTPStatus(status).name.lower()
    except ValueError:
        return f"http_{status}"


def describe_failure(status: int, retry_after: str | None = None) -> str:
    """Return the line that precedes an answer with an error, or with a status that a tool's declaration does not accept.

    `retry_after` is the checked header: seconds, or a date.
    """
    if is_error(status):
        what = "the upstream answered with an error"
    elif is_redirect(status):
        what = "the upstream redirects, and no redirect is followed"
    else:
        what = "the declaration of this tool does not count this status as a success"
    line = f"Error: HTTP {name_status(status)} -- {what}."
    if retry_after is None:
        return line
    return f"{line} Retry-After: {retry_after}{' seconds' if retry_after.isdigit() else ''}."
