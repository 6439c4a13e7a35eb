"""The HTTP client for Google's side: other functions, the metadata server, the certificates of its tokens."""

from __future__ import annotations

import ssl

import httpx

SECONDS = 60.0
"""The longest another function is waited for: a tool's own 30 seconds, its claim, its settlement and a cold start."""


def build_trace_headers(traceparent: str) -> dict[str, str]:
    """Return the header that continues a trace, where there is one."""
    return {"traceparent": traceparent} if traceparent else {}


class HttpClient:
    """One client per process, made at first use. No proxies and no trust settings are taken from the environment.

    One that is `local` reaches the local cloud, which speaks plain HTTP on loopback, and nobody else: it reads no authorities,
    which takes most of the time of making a client, and so trusts none.
    """

    def __init__(self, *, local: bool = False) -> None:
        self._local = local
        self._client: httpx.AsyncClient | None = None

    def client(self) -> httpx.AsyncClient:
        if self._client is None:
            verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if self._local else True
            self._client = httpx.AsyncClient(verify=verify, trust_env=False, timeout=SECONDS, follow_redirects=False)
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
