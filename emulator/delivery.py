"""Delivery: HTTP requests from the local cloud to the functions, which all live on this machine."""

import ipaddress
import ssl
from collections.abc import Mapping
from contextlib import aclosing
from datetime import timedelta
from functools import cache

import httpx

from emulator.clock import EmulatorClock


@cache
def create_context() -> ssl.SSLContext:
    """Return the TLS context of every delivery of this process: to read the authorities takes 15 ms of the processor."""
    return httpx.create_ssl_context(trust_env=False)


class UndeliveredError(Exception):
    """No answer came: nobody listens there, the connection broke, or the deadline passed."""


def is_local(url: str) -> bool:
    """Return whether the URL is an HTTP one that names this machine."""
    try:
        parsed = httpx.URL(url)
        if parsed.scheme not in ("http", "https") or parsed.userinfo:
            return False
        return parsed.host == "localhost" or ipaddress.ip_address(parsed.host).is_loopback
    except (httpx.InvalidURL, ValueError):
        return False


class HttpDelivery:
    """One HTTP client, which follows no redirect, reads no proxy settings and calls nobody but this machine."""

    def __init__(self, clock: EmulatorClock) -> None:
        self._clock = clock
        self._client: httpx.AsyncClient | None = None

    async def send(self, method: str, url: str, *, headers: Mapping[str, str], content: bytes, deadline: timedelta) -> int:
        """Send one request and return the status of the answer, whose body is read and dropped.

        Raise Undelivered when no whole answer came within `deadline`, or the URL is not on this machine.
        """
        if not is_local(url):
            raise UndeliveredError(f"{url} is not on this machine")
        if self._client is None:
            # A connection each: one kept open breaks when a function restarts, and the pool's search for one among
            # hundreds costs more than a new one on loopback.
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
            # The deadline below is the only one: it goes by the clock.
            self._client = httpx.AsyncClient(verify=create_context(), trust_env=False, timeout=None, limits=limits)  # noqa: S113 - see above
        try:
            async with self._clock.deadline(self._clock.now() + deadline):
                request = httpx.Request(method, url, headers=headers, content=content)
                async with aclosing(await self._client.send(request, stream=True)) as answer:
                    async for _ in answer.aiter_raw():
                        pass
                    return answer.status_code
        except (httpx.HTTPError, TimeoutError) as error:
            raise UndeliveredError(str(error) or "the deadline passed") from error

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
