"""Answers that are no reply: their status, and as much of their body as a message takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman.models.events import UnreadableReplyError

BODY_BYTES_MAX = 65_536
UNCOMPRESSED: Mapping[str, str] = {"Accept-Encoding": "identity"}
"""The headers that ask for answers as they are: a stream of events gains nothing, and a small one could grow large."""

_SUCCESS = range(200, 300)


class RefusedRequestError(Exception):
    """The provider answered with a status that is no success. Its text names the status alone."""

    def __init__(self, status: int, retry_after: str | None, body: bytes) -> None:
        super().__init__(str(status))
        self.status = status
        self.retry_after = retry_after
        self._body = body

    def read_message(self) -> str:
        """Return what the body says, as the Messages API words errors, or nothing."""
        try:
            body = json.loads(self._body)
        except (ValueError, RecursionError):
            return ""
        inner = body.get("error") if isinstance(body, dict) else None
        return str(inner.get("message", "")) if isinstance(inner, dict) else ""


async def check_response(response: Any) -> None:
    """Raise `RefusedRequestError` unless the request succeeded, `UnreadableReplyError` where the answer is compressed.

    A hook of the SDK's transport: the SDK itself would read the whole body of an error, however long.
    """
    if response.status_code in _SUCCESS:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise UnreadableReplyError("the model's provider sent its reply compressed, which it was not asked for")
        return
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            break
    raise RefusedRequestError(response.status_code, response.headers.get("retry-after"), bytes(body[:BODY_BYTES_MAX]))
