"""SSRF protection: resolve, validate every address, dial exactly those (prevents DNS rebinding)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any, Protocol

import httpcore

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.address import ANSWERS_MAX, Address, is_public
from ferryman.domain.http.request import RESOLVE_SECONDS
from ferryman.egress.stream import TlsStream
from ferryman.limiter import OwnerLimiter
from ferryman.ports.gate import NameResolver

PORT, CLEAR_PORT = 443, 80
CONNECT_SECONDS = 10.0
"""For one address, where there is another to try."""


class PeerNotPinnedError(Exception):
    """An address was about to be dialled, or is connected, that was not validated for this call."""


class Dialer(Protocol):
    """Opens a TCP connection to exactly one address, and checks the socket's peer: one for TLS, on port 80 one in clear.

    Raise `PeerNotPinnedError` or httpcore's errors.
    """

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream: ...


async def resolve_public_addresses(
    host: str, names: NameResolver, *, owner: str, within_s: float = RESOLVE_SECONDS
) -> tuple[Address, ...]:
    """Return the addresses of `host`, all of them public, IPv4 first. Raise `CallRefusedError` if a single one is private.

    The lookup takes at most `within_s` seconds and counts among those of `owner`.
    """
    try:
        # A literal address is never looked up.
        ip_address(host)
    except ValueError:
        pass
    else:
        raise CallRefusedError(refusal.refuse_address(host))
    try:
        async with asyncio.timeout(within_s):
            answers: Sequence[Address] = await names.resolve(host, owner=owner)
    except (OSError, ValueError):  # TimeoutError is an OSError
        raise CallRefusedError(refusal.refuse_address(host)) from None
    if not 0 < len(answers) <= ANSWERS_MAX or not all(is_public(address) for address in answers):
        raise CallRefusedError(refusal.refuse_address(host))
    return tuple(sorted(answers, key=lambda address: address.version))


class PinnedNetwork(httpcore.AsyncNetworkBackend):
    """The network of one call: one host, at the addresses that were validated for it, on one port."""

    def __init__(self, host: str, addresses: Sequence[Address], dialer: Dialer, *, port: int = PORT) -> None:
        self.port = port
        self._host = host
        self._addresses = addresses
        self._dialer = dialer

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the seam's own signature
        *_: Any,
        **__: Any,
    ) -> httpcore.AsyncNetworkStream:
        """Return a stream to the first validated address that answers."""
        if host != self._host or port != self.port or not self._addresses:
            raise PeerNotPinnedError("not the host and port of this call")
        failure: Exception | None = None
        timeout_s = timeout if len(self._addresses) == 1 else min(timeout or CONNECT_SECONDS, CONNECT_SECONDS)
        for address in self._addresses:
            try:
                return await self._dialer.dial(address, port, timeout_s=timeout_s)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or PeerNotPinnedError("no address")

    async def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        raise PeerNotPinnedError("a call does not connect to a unix socket")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class DirectDialer:
    """The `Dialer` of a deployment: dials the address itself."""

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        stream = await connect(str(address), port, timeout_s, clear=port == CLEAR_PORT)
        await assert_peer(stream, address, port)
        return stream


async def connect(host: str, port: int, timeout_s: float | None, *, clear: bool) -> httpcore.AsyncNetworkStream:
    """Return a stream to an address, which is not looked up: one that can only be written to after `start_tls`, or in clear."""
    if clear:
        return await httpcore.AnyIOBackend().connect_tcp(host, port, timeout=timeout_s)
    return await TlsStream.connect(host, port, timeout_s)


class WatchedDialer:
    """The `Dialer` of one call, which records whether anything was `dialled`: until then nothing was sent."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self.dialled = False

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        self.dialled = True
        return await self._dialer.dial(address, port, timeout_s=timeout_s)


class NullDialer:
    """A `Dialer` that dials nothing, to learn what the gate would do."""

    async def dial(self, *_: object, **__: object) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError("nothing is dialled here")


async def assert_peer(stream: httpcore.AsyncNetworkStream, address: Address, port: int) -> None:
    """Close `stream` and raise `PeerNotPinnedError` unless its socket is connected to `address` and `port`."""
    peer = stream.get_extra_info("server_addr")
    if not peer or ip_address(peer[0]) != address or peer[1] != port:
        await stream.aclose()
        raise PeerNotPinnedError("the connected peer is not the address that was validated")


LOOKUPS_MAX = 64
"""Lookups under way in one process; one more is refused at once. Slow ones are abandoned by their callers, not ended."""

LOOKUPS_PER_OWNER = 8
"""Lookups under way for one owner in one process, the abandoned ones among them; one more waits for one of the same owner's."""

Lookup = Callable[[str], Sequence[Address]]


class Resolver:
    """`ports.Names` on getaddrinfo. A lookup cannot be cancelled, so each has a thread of its own."""

    def __init__(self, lookup: Lookup | None = None, *, maximum: int = LOOKUPS_MAX, per_owner: int = LOOKUPS_PER_OWNER) -> None:
        self._lookup = lookup or look_up_addresses
        self._free = threading.BoundedSemaphore(maximum)
        self._turns = OwnerLimiter(per_owner)

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:
        """Return every address of `host`. Raise OSError when there is none, or when too many lookups are under way.

        Waits while `owner` has as many lookups under way as one owner may have; a caller bounds that by its own timeout.
        """
        await self._turns.take(owner)
        if not self._free.acquire(blocking=False):
            self._turns.give(owner)
            raise OSError("too many lookups are under way")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[Address]] = loop.create_future()

        def settle(addresses: Sequence[Address] | None, error: OSError | None) -> None:
            self._turns.give(owner)
            if not answer.done():
                answer.set_exception(error) if error else answer.set_result(addresses or ())

        def run() -> None:
            addresses: Sequence[Address] | None = None
            failure: OSError | None = None
            try:
                addresses = self._lookup(host)
            except Exception as error:  # noqa: BLE001 - whatever the system's resolver raises, the name has no address
                failure = error if isinstance(error, OSError) else OSError("the name could not be looked up")
            finally:
                self._free.release()
            # The caller's loop may have ended meanwhile: then nobody waits for the answer.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, addresses, failure)

        try:
            threading.Thread(target=run, name="lookup", daemon=True).start()
        except RuntimeError as error:
            self._free.release()
            self._turns.give(owner)
            raise OSError("no thread for a lookup") from error
        return await answer


def look_up_addresses(host: str) -> Sequence[Address]:
    """Return the system resolver's addresses of `host`, each once, in its order."""
    # The final dot keeps the resolver from trying the machine's search domains, internal ones among them.
    entries = socket.getaddrinfo(f"{host}.", 443, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return tuple(dict.fromkeys(ip_address(str(entry[4][0])) for entry in entries))
