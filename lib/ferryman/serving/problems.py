"""Problems as HTTP answers: every error is application/problem+json (RFC 9457), and none repeats what was sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from ferryman.domain.problem import Problem

MEDIA_TYPE = "application/problem+json"

_RENAMED = {413: "Content Too Large", 422: "Unprocessable Content"}
"""RFC 9110's phrases, which older Pythons do not know yet."""


def create_problem(
    status: int, detail: str, *, errors: Iterable[Problem] = (), headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer that says what is wrong, under the status's own phrase; `errors` name the fields."""
    body: dict[str, Any] = {"type": "about:blank", "title": get_title(status), "status": status, "detail": detail}
    listed = [{"field": error.field, "message": error.message} for error in errors]
    if listed:
        body["errors"] = listed
    return Response(json.dumps(body), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def get_title(status: int) -> str:
    """Return the status's own phrase."""
    try:
        return _RENAMED.get(status) or HTTPStatus(status).phrase
    except ValueError:
        return "Error"
