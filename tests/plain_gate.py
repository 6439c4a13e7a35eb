"""A gate without a network, and a table of names.

An allowed request is passed, with its secrets filled in, to a function in place of the host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.message import Block
from ferryman.domain.http.address import Address
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.request import BodyType, InboundResponse, OutboundRequest, SecretPlaceholder, Template
from ferryman.domain.http.url import parse_url
from ferryman.domain.json_tree import map_leaves
from ferryman.ports.gate import CallPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledRequest:
    """A request as the host receives it, with every secret filled in; header names in lower case."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    query_params: Mapping[str, Any] = field(repr=False)
    body: Any = field(repr=False)
    body_type: BodyType


Upstream = Callable[[FilledRequest], Awaitable[InboundResponse]]


def build_response(body: str | bytes, status: int = 200) -> InboundResponse:
    """Return a response with this body."""
    raw = body.encode() if isinstance(body, str) else body
    return InboundResponse(status=status, headers=(), body=raw, size_bytes=len(raw))


class PlainGate:
    """Sends what the policy admits, to hosts that each credential in the request is bound to."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse:
        """Return the host's response, cut to `call.body_max` bytes. Raise `CallRefusedError`."""
        policy, credentials = call.execution, call.credentials
        host = parse_url(outbound.url).host
        if not policy.admits(host):
            raise CallRefusedError(refusal.refuse_host(host, policy.domains))

        def fill(value: Any) -> Any:
            return map_leaves(value, lambda leaf: fill_text(leaf) if isinstance(leaf, Template) else leaf)

        def fill_text(template: Template) -> str:
            return "".join(piece if isinstance(piece, str) else reveal(piece) for piece in template.pieces)

        def reveal(placeholder: SecretPlaceholder) -> str:
            credential = credentials.get(placeholder.name)
            if credential is None:
                raise CallRefusedError(refusal.refuse_unknown_credential(placeholder.name))
            if not is_covered(credential.label.hosts, host):
                raise CallRefusedError(refusal.refuse_credential_for_host(placeholder.name, host))
            return credential.secret.reveal()

        headers = {**outbound.headers, **outbound.fixed_headers}
        arrived = FilledRequest(
            method=outbound.method.value,
            url=outbound.url,
            headers={name.lower(): fill(value) for name, value in headers.items()},
            query_params=fill(outbound.query_params),
            body=fill(outbound.body),
            body_type=outbound.body_type,
        )
        return _truncate(await self._upstream(arrived), call.body_max)


class TableNames:
    """`ports.NameResolver`: a table of hosts and their addresses, as text; what is not in it does not resolve."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self._table = {host.lower(): tuple(ip_address(text) for text in texts) for host, texts in table.items()}

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:
        addresses = self._table.get(host.lower())
        if addresses is None:
            raise OSError(f"{host} does not resolve")
        return addresses


async def redact_plainly(owner: str, credentials: Iterable[Credential], text: str) -> str:
    """Return `text` with every value of a credential replaced by the credential's name."""
    for credential in credentials:
        text = text.replace(credential.secret.reveal(), f"[redacted:{credential.name}]")
    return text


async def redact_document_plainly(owner: str, credentials: Iterable[Credential], body: bytes) -> bytes:
    """Return a document redacted in the same way."""
    return (await redact_plainly(owner, credentials, body.decode())).encode()


async def pass_unscanned(owner: str, credentials: Iterable[Credential], content: Sequence[Block]) -> Sequence[Block]:
    """Return the model's output as it is: for a model that repeats no credential."""
    return content


def _truncate(inbound: InboundResponse, most: int | None) -> InboundResponse:
    if most is None or len(inbound.body) <= most:
        return inbound
    return InboundResponse(
        status=inbound.status, headers=inbound.headers, body=inbound.body[:most], size_bytes=inbound.size_bytes, cut=True
    )
