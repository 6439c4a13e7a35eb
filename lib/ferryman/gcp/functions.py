"""The client of our own functions: POST with an identity token, and errors for answers that are none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from typing import Any

import httpx

from ferryman.gcp.http import SECONDS, HttpClient, build_trace_headers
from ferryman.ports.errors import RejectedError, UnavailableError

ANSWER_S = 90.0
"""The longest a function without keys is waited for: a page's 60 seconds, reading it, and a cold start."""

SILENCE_S = 30.0
"""The longest a stream of lines is silent."""

LINE_BYTES_MAX = 8 * 1_048_576
"""Of a line: a whole reply of the model, whatever characters it has."""

ANSWER_BYTES_MAX = 4 * 1_048_576
"""Of the answer of a function without keys."""


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
        answer = await self._send(function, path, body)
        try:
            await answer.aread()
        except httpx.HTTPError as error:
            raise _report_silence(function, error) from None
        finally:
            await answer.aclose()
        if answer.status_code not in (httpx.codes.OK, *expected):
            raise UnavailableError(f"function {function} answered {answer.status_code}")
        return answer

    async def ask(self, function: str, path: str, body: Mapping[str, Any]) -> Any:
        """Return the JSON that a function answers which may have been taken over: at most `ANSWER_BYTES_MAX`, as it is sent.

        Raise `UnavailableError` for another status than 200, `RejectedError` for a longer answer, ValueError for no JSON.
        """
        answer = await self._send(function, path, body, timeout_s=ANSWER_S)
        received = bytearray()
        try:
            if answer.status_code != httpx.codes.OK:
                raise UnavailableError(f"function {function} answered {answer.status_code}")
            async for part in answer.aiter_raw():  # a coding is not undone: it could make much of little
                received += part
                if len(received) > ANSWER_BYTES_MAX:
                    raise RejectedError(f"function {function} answered more than {ANSWER_BYTES_MAX:,} bytes")
        except httpx.HTTPError as error:
            raise _report_silence(function, error) from None
        finally:
            await answer.aclose()
        try:
            return json.loads(received)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None

    async def iterate_lines(self, function: str, path: str, body: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield the lines that a function answers, as they come, without those that are empty.

        It sends an empty one where there is nothing to say, at least every `SILENCE_S`. Raise `UnavailableError`.
        """
        answer = await self._send(function, path, body, timeout_s=SILENCE_S)
        line = bytearray()
        try:
            if answer.status_code != httpx.codes.OK:
                raise UnavailableError(f"function {function} answered {answer.status_code}")
            async for part in answer.aiter_raw():
                first, *others = part.split(b"\n")
                line += first
                for other in others:
                    if line:
                        yield bytes(line)
                    line = bytearray(other)
                if len(line) > LINE_BYTES_MAX:
                    raise UnavailableError(f"function {function} sent a line of more than {LINE_BYTES_MAX:,} bytes")
        except httpx.HTTPError as error:
            raise _report_silence(function, error) from None
        finally:
            await answer.aclose()

    async def _send(
        self, function: str, path: str, body: Mapping[str, Any] | bytes, *, timeout_s: float = SECONDS
    ) -> httpx.Response:
        """Return the head of the answer. Raise `UnavailableError`."""
        url = self._urls[function]
        headers = {"Authorization": f"Bearer {await self._token(url)}", **build_trace_headers(self._traceparent())}
        client = self._wire.client()
        try:
            sent: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
            return await client.send(
                client.build_request("POST", url + path, **sent, headers=headers, timeout=timeout_s), stream=True
            )
        except httpx.HTTPError as error:
            raise _report_silence(function, error) from None


def _report_silence(function: str, error: httpx.HTTPError) -> UnavailableError:
    return UnavailableError(f"function {function} did not answer ({type(error).__name__})")
