"""Documents of authorization, fetched through the gate: bounded JSON objects, and no redirect is followed.

An address that is not https, or that leads inward, is refused by the gate; the message names which document it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.owners.plan import PRO
from ferryman.ports.gate import CallPolicy, FetchGate
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError

DOCUMENT_BYTES_MAX = 65_536
REQUESTS_MAX = 12
"""Requests of one discovery at most: a server that lists others without end is asked for nothing further."""

WITHIN_S = 8.0
TOOL = "oauth"
"""The tool of these requests in the log of the gate."""


class Fetcher(Protocol):
    """Fetches documents. `what` names one in messages.

    `get` returns None where there is none, which any status from 400 to 499 says; `post` returns the status beside the object,
    {} for another body. Both raise `AuthorizationFailedError`.
    """

    async def get(self, url: str, what: str) -> Mapping[str, Any] | None: ...
    async def post(self, url: str, body: Mapping[str, Any], what: str) -> tuple[int, Mapping[str, Any]]: ...


@dataclass(slots=True)
class GateFetcher:
    """`Fetcher` through the gate, in the name of `owner`, for one discovery."""

    gate: FetchGate
    owner: str
    requests: int = 0

    async def get(self, url: str, what: str) -> Mapping[str, Any] | None:
        status, body = await self._fetch(url, what, Method.GET)
        if 400 <= status < 500:
            return None
        if status != 200:
            raise AuthorizationFailedError(_describe(status, what))
        document = read_object(body)
        if document is None:
            raise AuthorizationFailedError(f"{what} is not a JSON object")
        return document

    async def post(self, url: str, body: Mapping[str, Any], what: str) -> tuple[int, Mapping[str, Any]]:
        status, answer = await self._fetch(url, what, Method.POST, dict(body))
        if _leads(status):
            raise AuthorizationFailedError(_describe(status, what))
        return status, read_object(answer) or {}

    async def _fetch(self, url: str, what: str, method: Method, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
        self.requests += 1
        if self.requests > REQUESTS_MAX:
            raise AuthorizationFailedError(f"the discovery takes more than {REQUESTS_MAX} requests")
        try:
            host = parse_url(url).host
        except InvalidUrlError as error:
            raise AuthorizationFailedError(f"the URL of {what} cannot be used: {error}") from None
        policy = ExecutionPolicy(owner=self.owner, task="", plan=PRO, tools=(), integrations=(), domains=(host,))
        call = CallPolicy(execution=policy, credentials={}, within_s=WITHIN_S, body_max=DOCUMENT_BYTES_MAX)
        outbound = OutboundRequest(tool=TOOL, method=method, url=url, fixed_headers={"Accept": "application/json"}, body=body)
        try:
            inbound = await self.gate.fetch(outbound, call)
        except CallRefusedError as refused:
            reason = refused.refusal.message.removeprefix("Error: ")
            raise AuthorizationFailedError(f"{what} cannot be fetched: {reason}") from None
        if inbound.cut:
            raise AuthorizationFailedError(f"{what} has more than {DOCUMENT_BYTES_MAX:,} bytes")
        return inbound.status, inbound.body


def read_object(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object in `body`; None for anything else, and for one that names a member twice."""
    try:
        value = json.loads(body, object_pairs_hook=_build_object)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise ValueError("a member is named twice")
    return built


def _leads(status: int) -> bool:
    return 300 <= status < 400


def _describe(status: int, what: str) -> str:
    return f"{what} was answered with HTTP {status}{', which is not followed' if _leads(status) else ''}"
