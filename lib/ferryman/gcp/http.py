"""The HTTP client for Google's side: other functions, the metadata server, the certificates of its tokens."""

from __future__ import annotations

import httpx

SECONDS = 60.0
"""The longest another function is waited for: a tool's own 30 seconds, its claim, its settlement and a cold start."""


def build_trace_headers(traceparent: str) -> dict[str, str]:
    """Return the header that continues a trace, where there is one."""
    return {"traceparent": traceparent} if traceparent else {}


class HttpClient:
    """One client per process, made at first use. No proxies and no trust settings are taken from the environment."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    def client(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(trust_env=False, timeout=SECONDS, follow_redirects=False)
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
