"""A gate without a network: what may go out is handed, filled, to a function that stands for the other end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain import refusal
from ferryman.domain.credential import Credential
from ferryman.domain.host import covered
from ferryman.domain.http import BodyType, Hole, Inbound, Mixed, Outbound
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.domain.url import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A request as the other end has it, with every hole filled; header names in lower case."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    query_params: Mapping[str, Any] = field(repr=False)
    body: Any = field(repr=False)
    body_type: BodyType


Upstream = Callable[[Arrived], Awaitable[Inbound]]


def answered(body: str | bytes, status: int = 200) -> Inbound:
    """An answer with this body."""
    raw = body.encode() if isinstance(body, str) else body
    return Inbound(status=status, headers=(), body=raw, size_bytes=len(raw))


class PlainGate:
    """Lets out what the remit admits, to hosts that each credential in it is bound to."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def fetch(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        within_s: float | None = None,  # noqa: ARG002 - there is no time in here
        body_max: int | None = None,
    ) -> Inbound:
        """What the other end answers, cut to `body_max` bytes; raises `Refused`."""
        host = parse(outbound.url).host
        if not remit.admits(host):
            raise Refused(refusal.not_approved(host, remit.domains))

        def filled(value: Any) -> Any:
            if isinstance(value, Mixed):
                return "".join(each if isinstance(each, str) else reveal(each) for each in value.pieces)
            if isinstance(value, Mapping):
                return {name: filled(each) for name, each in value.items()}
            return [filled(each) for each in value] if isinstance(value, list | tuple) else value

        def reveal(hole: Hole) -> str:
            credential = credentials.get(hole.name)
            if credential is None:
                raise Refused(refusal.credential_not_found(hole.name))
            if not covered(credential.label.hosts, host):
                raise Refused(refusal.credential_not_for_host(hole.name, host))
            return credential.secret.reveal()

        headers = {**outbound.headers, **outbound.fixed_headers}
        arrived = Arrived(
            method=outbound.method.value,
            url=outbound.url,
            headers={name.lower(): filled(value) for name, value in headers.items()},
            query_params=filled(outbound.query_params),
            body=filled(outbound.body),
            body_type=outbound.body_type,
        )
        return _cut(await self._upstream(arrived), body_max)


def plainly(credentials: Iterable[Credential], text: str) -> str:
    """`text` with every credential that stands in it as it is replaced by its name."""
    for each in credentials:
        text = text.replace(each.secret.reveal(), f"[redacted:{each.name}]")
    return text


def _cut(inbound: Inbound, most: int | None) -> Inbound:
    if most is None or len(inbound.body) <= most:
        return inbound
    return Inbound(
        status=inbound.status, headers=inbound.headers, body=inbound.body[:most], size_bytes=inbound.size_bytes, cut=True
    )
