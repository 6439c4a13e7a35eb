"""The client of our own functions: POST with an identity token, and errors for answers that are none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

import httpx

from ferryman.gcp.http import HttpClient, build_trace_headers
from ferryman.ports.errors import UnavailableError


class FunctionClient:
    """Call functions by name. `urls` are their addresses, `token` returns an identity token for an audience."""

    def __init__(
        self,
        wire: HttpClient,
        urls: Mapping[str, str],
        token: Callable[[str], Awaitable[str]],
        traceparent: Callable[[], str] = str,
    ) -> None:
        self._wire = wire
        self._urls = urls
        self._token = token
        self._traceparent = traceparent

    async def post(
        self, function: str, path: str, body: Mapping[str, Any] | bytes, *, expected: Collection[int] = ()
    ) -> httpx.Response:
        """Return the answer to a JSON object, or to bytes. Raise `UnavailableError` unless its status is 200 or one of
        `expected`."""
        url = self._urls[function]
        headers = {"Authorization": f"Bearer {await self._token(url)}", **build_trace_headers(self._traceparent())}
        try:
            sent: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
            answer = await self._wire.client().post(url + path, **sent, headers=headers)
        except httpx.HTTPError as error:
            raise UnavailableError(f"function {function} did not answer ({type(error).__name__})") from None
        if answer.status_code not in (httpx.codes.OK, *expected):
            raise UnavailableError(f"function {function} answered {answer.status_code}")
        return answer
