"""Retries: whether a request whose answer was lost is sent again, under the same idempotency key, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ferryman.client.request import ApiRequest

RETRY_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Between the attempts at a POST whose answer was lost: long enough for one that died to count as over."""

_PASSING = (409, 503)


class Attempts:
    """The attempts at one request. Each method returns after how many seconds the next one is due, or None for no further."""

    def __init__(self, request: ApiRequest[Any], waits_s: Sequence[float]) -> None:
        self._waits_s: Iterator[float] = iter(waits_s if request.is_keyed else ())
        self._is_lost = False

    def after_loss(self, *, was_sent: bool) -> float | None:
        """Decide after a connection that broke, or was never there: that sent nothing, unless an earlier attempt did."""
        self._is_lost = self._is_lost or was_sent
        return next(self._waits_s, None) if self._is_lost else None

    def after_answer(self, status: int, headers: Mapping[str, str]) -> float | None:
        """Decide after an answer: after a loss, one may only say that the lost attempt is under way still."""
        is_passing = status in _PASSING and "retry-after" in headers
        return next(self._waits_s, None) if self._is_lost and is_passing else None
