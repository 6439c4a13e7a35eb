"""Pin: a name is resolved once, every answer is validated, and only what was validated is ever dialled."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Any, Protocol

import httpcore

from ferryman.domain import refusal
from ferryman.domain.address import ANSWERS_MAX, Address, public
from ferryman.domain.http import RESOLVE_SECONDS
from ferryman.domain.refusal import Refused
from ferryman.ports import Names

PORT = 443
CONNECT_SECONDS = 10.0
"""For one address, where there is another to try."""


class Unpinned(Exception):  # noqa: N818 - reads as the fact it states
    """Something was about to be dialled, or turned out to be connected, that had not been validated for this call."""


class Dialer(Protocol):
    """Opens a TCP connection to exactly this address and asserts the socket's peer; raises `Unpinned` or httpcore's errors."""

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream: ...


async def validated(host: str, names: Names, *, within_s: float = RESOLVE_SECONDS) -> tuple[Address, ...]:
    """The addresses of `host`, all of them public and IPv4 first, or `Refused`. One private answer refuses the name."""
    try:
        # A literal is never looked up, whatever let it come this far.
        ip_address(host)
    except ValueError:
        pass
    else:
        raise Refused(refusal.not_resolved(host))
    try:
        async with asyncio.timeout(within_s):
            answers: Sequence[Address] = await names.resolve(host)
    except (OSError, ValueError):  # TimeoutError is an OSError
        raise Refused(refusal.not_resolved(host)) from None
    if not 0 < len(answers) <= ANSWERS_MAX or not all(public(each) for each in answers):
        raise Refused(refusal.not_resolved(host))
    return tuple(sorted(answers, key=lambda each: each.version))


class Pinned(httpcore.AsyncNetworkBackend):
    """The network as one call sees it: one host, at the addresses validated for it, on port 443."""

    def __init__(self, host: str, addresses: Sequence[Address], dialer: Dialer) -> None:
        self._host = host
        self._addresses = addresses
        self._dialer = dialer

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the seam's own signature
        local_address: str | None = None,  # noqa: ARG002 - the seam's own signature
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - the seam's own signature
    ) -> httpcore.AsyncNetworkStream:
        """A stream to the first validated address that answers."""
        if host != self._host or port != PORT or not self._addresses:
            raise Unpinned("not the host and port of this call")
        failure: Exception | None = None
        patience = timeout if len(self._addresses) == 1 else min(timeout or CONNECT_SECONDS, CONNECT_SECONDS)
        for address in self._addresses:
            try:
                return await self._dialer.dial(address, port, timeout_s=patience)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or Unpinned("no address")

    async def connect_unix_socket(
        self,
        path: str,  # noqa: ARG002 - the seam's own signature
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 - the seam's own signature
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - the seam's own signature
    ) -> httpcore.AsyncNetworkStream:
        raise Unpinned("a unix socket is no place of this call")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Direct:
    """`Dialer` to the address itself."""

    def __init__(self) -> None:
        self._network = httpcore.AnyIOBackend()

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        stream = await self._network.connect_tcp(str(address), port, timeout=timeout_s)
        await assert_peer(stream, address, port)
        return stream


class Watched:
    """`Dialer` of one call that remembers whether anything was dialled: until then nothing can have been sent."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self.dialled = False

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        self.dialled = True
        return await self._dialer.dial(address, port, timeout_s=timeout_s)


class Nowhere:
    """`Dialer` that dials nothing, for whoever only wants to know what the gate would do."""

    async def dial(
        self,
        address: Address,  # noqa: ARG002 - the port's own signature
        port: int,  # noqa: ARG002 - the port's own signature
        *,
        timeout_s: float | None,  # noqa: ARG002 - the port's own signature
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError("nothing is dialled here")


async def assert_peer(stream: httpcore.AsyncNetworkStream, address: Address, port: int) -> None:
    """Close `stream` and raise `Unpinned` unless its socket is connected to `address` and `port`."""
    peer = stream.get_extra_info("server_addr")
    if not peer or ip_address(peer[0]) != address or peer[1] != port:
        await stream.aclose()
        raise Unpinned("the connected peer is not the address that was validated")
