"""Heads of requests: address, headers and time limits, as the SDK built and signed them, kept for the requests that follow.

The SDK builds every request from nothing, which takes nearly as long as to send it and read the answer; only the body differs.
Where a head has an access token (Vertex AI), the SDK renews it minutes before its end: some seconds later it is still good.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

HEAD_S = 30.0
"""For how many seconds a head is used again; the SDK renews an access token that has less than 225 seconds left."""

HEADS_MAX = 64
_LENGTH = b"content-length"


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of one request. Its headers hold the key, so no repr shows them."""

    url: Any
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    timeout: Any

    @classmethod
    def from_request(cls, request: Any) -> Self:
        """Return the head of a request of the SDK's transport."""
        headers = tuple(header for header in request.headers.raw if header[0].lower() != _LENGTH)
        return cls(request.url, headers, request.extensions.get("timeout"))

    def build(self, body: bytes) -> Any:
        """Return a request with this head and another body."""
        import httpx2

        extensions = {} if self.timeout is None else {"timeout": self.timeout}
        return httpx2.Request("POST", self.url, headers=list(self.headers), content=body, extensions=extensions)


class RequestHeads:
    """The latest heads of one client's requests, by path. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heads: dict[str, tuple[RequestHead, float]] = {}

    def keep(self, path: str, head: RequestHead) -> None:
        """Keep the head of a request to `path` that succeeded."""
        if len(self._heads) >= HEADS_MAX:
            self._heads.clear()
        self._heads[path] = head, self._clock() + HEAD_S

    def find(self, path: str) -> RequestHead | None:
        """Return the head for `path`, or None where none is kept or it is too old."""
        head, until = self._heads.get(path, (None, 0.0))
        return head if self._clock() < until else None

    def drop(self, path: str) -> None:
        """Forget the head for `path`: a request with it failed."""
        self._heads.pop(path, None)
