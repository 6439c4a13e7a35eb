"""One search: a GET to the operator's endpoint, its bounded answer, and a clear sentence for every failure (S4-42 … S4-49).

The endpoint comes from the settings alone. It may be private and without TLS; nothing that a model writes changes where the
request goes, no redirect is followed, no cookie kept, no proxy used, and no sentence names the endpoint.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from contextlib import aclosing
from urllib.parse import urlencode

import httpx

from ferryman import offload
from ferryman.domain.calls.suggestion import NOT_CONFIGURED
from ferryman.domain.search import FoundPage
from ferryman.ports.errors import UnavailableError
from ferryman.ports.search import SearchFailedError
from ferryman.searxng.answer import SearchAnswer, read_answer

ANSWER_BYTES_MAX = 4 * 1024 * 1024
"""How many bytes of an answer are read (S4-48)."""

REQUEST_SECONDS = 10.0
"""How long a search may take (S4-47); a call's own limit, which is told in words, is the same or shorter."""

LONG_BYTES = 131_072
"""A longer answer is read in a worker process: one of 4 MiB can hold the event loop, and take hundreds of megabytes."""

HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",  # nothing to be unpacked: what is read is what was sent
    "user-agent": "Ferryman",
}
_LATER, _AT_ONCE = "request_failed", "too_many_requests"


class SearxngEngine:
    """`ports.SearchEngine` on SearXNG. `endpoint` is a URL without a last slash; `transport` is httpx's own by default."""

    def __init__(self, endpoint: str, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._endpoint = endpoint
        self._transport = transport

    async def search(self, query: str, *, most: int, owner: str) -> Sequence[FoundPage]:
        answer = await _read(await self._get(query), most, owner)
        if answer is None:
            raise SearchFailedError("the search engine's answer cannot be read", code=_LATER)
        if not answer.results and answer.unresponsive:
            text = f"nothing was found, and {answer.unresponsive} of the engines behind the search did not answer"
            raise SearchFailedError(text, code=_LATER)
        return answer.results

    async def _get(self, query: str) -> bytes:
        # a transport alone: it follows no redirect, keeps no cookie and reads no environment
        transport = self._transport = self._transport or _build_transport(self._endpoint)
        parameters = {"q": query, "format": "json", "safesearch": "0", "language": "en"}
        timeout = httpx.Timeout(REQUEST_SECONDS).as_dict()
        url = f"{self._endpoint}/search?{urlencode(parameters)}"
        request = httpx.Request("GET", url, headers=HEADERS, extensions={"timeout": timeout})
        try:
            response = await transport.handle_async_request(request)
            try:
                return await _read_content(response)
            finally:
                await response.aclose()
        except httpx.TimeoutException:
            raise SearchFailedError("the search engine did not answer in time", code=_LATER) from None
        except httpx.ConnectError:
            raise SearchFailedError("the search engine cannot be reached", code=_LATER) from None
        except httpx.HTTPError:
            raise SearchFailedError("the connection to the search engine broke", code=_LATER) from None


async def _read_content(response: httpx.Response) -> bytes:
    """Return the bytes of an answer with status 200. Raise `SearchFailedError` for any other, and for too long a one."""
    if response.status_code != httpx.codes.OK:
        raise _explain_status(response.status_code)
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise SearchFailedError("the search engine's answer is packed, which was not asked for", code=_LATER)
    content = bytearray()
    async with aclosing(response.aiter_raw()) as chunks:  # type: ignore[type-var] # it is a generator
        async for chunk in chunks:
            content += chunk
            if len(content) > ANSWER_BYTES_MAX:
                raise SearchFailedError(f"the search engine's answer has more than {ANSWER_BYTES_MAX:,} bytes", code=_LATER)
    return bytes(content)


def _explain_status(status: int) -> SearchFailedError:
    if status == httpx.codes.FORBIDDEN:
        text = "the search engine gives no JSON (403): its operator has to add json to search.formats in its settings"
        return SearchFailedError(text, code=NOT_CONFIGURED)
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return SearchFailedError("the search engine has had too many searches for now (429)", code=_AT_ONCE)
    if 300 <= status < 400:
        return SearchFailedError(f"the search engine leads elsewhere ({status}), which is not followed", code=_LATER)
    return SearchFailedError(f"the search engine failed ({status})", code=_LATER)


async def _read(content: bytes, most: int, owner: str) -> SearchAnswer | None:
    if len(content) <= LONG_BYTES:
        return read_answer(content, most)
    try:
        return await offload.run(owner, offload.TEXT, read_answer, content, most)
    except (offload.OverBudgetError, offload.JobFailedError):
        return None
    except UnavailableError:
        raise SearchFailedError("too many answers of the search engine wait to be read", code=_AT_ONCE) from None


def _build_transport(endpoint: str) -> httpx.AsyncHTTPTransport:
    # for a plain endpoint no authorities are read, which takes most of the time of making a transport; and none is trusted
    plain = endpoint.startswith("http://")
    return httpx.AsyncHTTPTransport(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True, trust_env=False)
