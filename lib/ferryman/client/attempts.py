"""Retries: whether a request whose answer was lost is sent again, and when: under its idempotency key, or one that reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from ferryman.client.errors import read_after_s
from ferryman.client.request import ApiRequest

RETRY_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Between the attempts at a request whose answer was lost: long enough for a POST that died to count as over."""

READ_REPEATS = 3
"""How often a GET is sent again whose connection was closed before the answer: a server closes one that nobody uses at the very
moment when it is used again, and the next one that is taken may be as old."""

_PASSING = (409, 503)
_BUSY = (429, 503)
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout)


class Attempts:
    """The attempts at one request. Each method returns after how many seconds the next one is due, or None for no further."""

    def __init__(self, request: ApiRequest[Any], waits_s: Sequence[float]) -> None:
        self._is_read = not request.is_keyed and request.method == "GET"
        most = len(waits_s) if request.is_keyed else READ_REPEATS if self._is_read else 0
        self._waits_s: Iterator[float] = iter(waits_s[:most])
        self._is_lost = False
        self._waits_for_turn = request.waits_for_turn

    def after_loss(self, error: httpx.RequestError) -> float | None:
        """Decide after a connection that broke, or was never there: that sent nothing, unless an earlier attempt did.

        A read that took too long is not sent again: it would take as long.
        """
        self._is_lost = self._is_lost or not isinstance(error, _NEVER_SENT)
        is_slow_read = self._is_read and isinstance(error, httpx.TimeoutException)
        return next(self._waits_s, None) if self._is_lost and not is_slow_read else None

    def after_answer(self, status: int, headers: Mapping[str, str]) -> float | None:
        """Decide after an answer: after a loss, one may only say that the lost attempt is under way still; a request that waits
        for its turn may be told when to come again."""
        if self._waits_for_turn and status in _BUSY and "retry-after" in headers:
            pause_s = next(self._waits_s, None)
            return None if pause_s is None else max(pause_s, read_after_s(headers))
        is_passing = status in _PASSING and "retry-after" in headers and not self._is_read
        return next(self._waits_s, None) if self._is_lost and is_passing else None


def describe_loss(url: str, error: httpx.RequestError) -> str:
    """Return what is said of a request to `url` that was given up."""
    what = "nobody answers at" if isinstance(error, _NEVER_SENT) else "no answer came from"
    return f"{what} {url} ({type(error).__name__})"
