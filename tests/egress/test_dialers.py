"""Dialers and lookups: how long one address is tried, what a peer has to be, and what a lookup leaves behind."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence
from ipaddress import ip_address

import httpcore
import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.address import Address
from ferryman.egress.pin import (
    CONNECT_SECONDS,
    DirectDialer,
    PeerNotPinnedError,
    PinnedNetwork,
    Resolver,
    WatchedDialer,
    assert_peer,
    look_up_addresses,
    resolve_public_addresses,
)

FIRST, SECOND = ip_address("8.8.8.8"), ip_address("8.8.4.4")


class Stream(httpcore.AsyncNetworkStream):
    """A connection to `peer`, which is all that it knows."""

    def __init__(self, peer: object) -> None:
        self.peer = peer
        self.closed = False

    def get_extra_info(self, info: str) -> object:
        return self.peer if info == "server_addr" else None

    async def aclose(self) -> None:
        self.closed = True


class DeadDialer:
    """Remembers for how long it was to try what, and reaches nothing."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.dialled: list[tuple[Address, int, float | None]] = []

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        self.dialled.append((address, port, timeout_s))
        raise self.faults.pop(0) if self.faults else httpcore.ConnectError("dead")


@pytest.mark.parametrize(
    ("addresses", "within_s", "timeouts"),
    [
        ([FIRST], 30, [30]),
        ([FIRST], None, [None]),
        ([FIRST, SECOND], 30, [CONNECT_SECONDS] * 2),
        ([FIRST, SECOND], 3, [3, 3]),
        ([FIRST, SECOND], None, [CONNECT_SECONDS] * 2),
    ],
)
async def test_an_address_is_tried_for_ten_seconds_where_there_is_another(
    addresses: list[Address], within_s: float | None, timeouts: list[float | None]
) -> None:
    dialer = DeadDialer()
    with pytest.raises(httpcore.ConnectError, match="dead"):
        await PinnedNetwork("a.test", addresses, dialer).connect_tcp("a.test", 443, within_s)
    assert dialer.dialled == [(address, 443, seconds) for address, seconds in zip(addresses, timeouts, strict=True)]


async def test_the_failure_of_the_last_address_is_the_one_that_is_told() -> None:
    dialer = DeadDialer(httpcore.ConnectTimeout("slow"), httpcore.ConnectError("closed"))
    with pytest.raises(httpcore.ConnectError, match="closed"):
        await PinnedNetwork("a.test", [FIRST, SECOND], dialer).connect_tcp("a.test", 443)


async def test_a_peer_that_is_not_pinned_ends_the_attempts() -> None:
    dialer = DeadDialer(PeerNotPinnedError("another peer"))
    with pytest.raises(PeerNotPinnedError, match="another peer"):
        await PinnedNetwork("a.test", [FIRST, SECOND], dialer).connect_tcp("a.test", 443)
    assert len(dialer.dialled) == 1


@pytest.mark.parametrize("peer", [("8.8.8.8", 443), ("8.8.8.8", 443, 0, 0)])
async def test_the_peer_that_was_validated_stays_connected(peer: tuple[object, ...]) -> None:
    stream = Stream(peer)
    await assert_peer(stream, FIRST, 443)
    assert not stream.closed


@pytest.mark.parametrize("peer", [None, (), ("8.8.4.4", 443), ("8.8.8.8", 80), ("::ffff:8.8.8.8", 443)])
async def test_any_other_peer_is_disconnected(peer: object) -> None:
    stream = Stream(peer)
    with pytest.raises(PeerNotPinnedError):
        await assert_peer(stream, FIRST, 443)
    assert stream.closed


async def test_a_watched_dialer_dials_what_it_is_told_and_remembers_that_it_did() -> None:
    dialer = DeadDialer()
    watched = WatchedDialer(dialer)
    assert watched.dialled is False
    with pytest.raises(httpcore.ConnectError):
        await watched.dial(FIRST, 444, timeout_s=7)
    assert (watched.dialled, dialer.dialled) == (True, [(FIRST, 444, 7)])


async def test_an_address_where_nobody_listens_is_given_up_within_its_time() -> None:
    # a socket that is bound and does not listen refuses; nobody else can be given its port meanwhile
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(httpcore.ConnectError):
            await DirectDialer().dial(ip_address("127.0.0.1"), silent.getsockname()[1], timeout_s=5)


async def test_a_full_queue_of_connections_is_given_up_in_time() -> None:
    with socket.socket() as full, socket.socket() as waiting, socket.socket() as more:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for client in (waiting, more):
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        async with asyncio.timeout(5):
            with pytest.raises(httpcore.ConnectTimeout):
                await DirectDialer().dial(ip_address("127.0.0.1"), full.getsockname()[1], timeout_s=0.05)


class Names:
    """Answers every name with `answer`, or raises it."""

    def __init__(self, answer: Sequence[Address] | Exception) -> None:
        self.answer = answer

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("a.test", []),
        ("a.test", [FIRST, ip_address("10.0.0.1")]),
        ("a.test", OSError("no such name")),
        ("a.test", ValueError("a label is too long")),
        ("8.8.8.8", [FIRST]),
    ],
)
async def test_a_host_that_may_not_be_dialled_is_refused_by_its_name(host: str, answer: Sequence[Address] | Exception) -> None:
    with pytest.raises(CallRefusedError) as refused:
        await resolve_public_addresses(host, Names(answer), owner="ann")
    assert refused.value.refusal == refusal.refuse_address(host)


def test_a_name_is_looked_up_as_it_is_and_for_tcp_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = []

    def getaddrinfo(*place: object, **what: object) -> list[tuple[object, ...]]:
        lookups.append((place, what))
        return [(0, 0, 0, "", (address, 443)) for address in ("8.8.8.8", "8.8.4.4", "8.8.8.8")]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert look_up_addresses("a.test") == (FIRST, SECOND)
    assert lookups == [(("a.test.", 443), {"type": socket.SOCK_STREAM, "proto": socket.IPPROTO_TCP})]


async def test_a_lookup_that_is_over_makes_room_for_the_next_whatever_became_of_it() -> None:
    def lookup(host: str) -> Sequence[Address]:
        if host == "none.test":
            raise OSError("no such name")
        return [FIRST]

    resolver = Resolver(lookup, maximum=1, per_owner=1)
    async with asyncio.timeout(5):
        for _ in range(3):
            with pytest.raises(OSError, match="no such name"):
                await resolver.resolve("none.test", owner="ann")
            assert await resolver.resolve("a.test", owner="ann") == [FIRST]


async def test_a_lookup_that_is_refused_for_want_of_room_leaves_its_owner_s_turn() -> None:
    release = threading.Event()

    def lookup(_: str) -> Sequence[Address]:
        release.wait()
        return [FIRST]

    resolver = Resolver(lookup, maximum=1, per_owner=1)
    first = asyncio.create_task(resolver.resolve("a.test", owner="bob"))
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        for _ in range(3):
            with pytest.raises(OSError, match="too many lookups are under way"):
                await resolver.resolve("a.test", owner="ann")
    release.set()
    assert await first == [FIRST]


async def test_a_lookup_without_a_thread_fails_and_leaves_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = Resolver(lambda _: [FIRST], maximum=1, per_owner=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
        for _ in range(3):
            with pytest.raises(OSError, match="no thread for a lookup"):
                await resolver.resolve("a.test", owner="ann")
    async with asyncio.timeout(5):
        assert await resolver.resolve("a.test", owner="ann") == [FIRST]


async def test_a_lookup_does_not_keep_the_process_alive() -> None:
    threads = []

    def lookup(_: str) -> Sequence[Address]:
        threads.append(threading.current_thread())
        return ()

    assert await Resolver(lookup).resolve("a.test", owner="ann") == ()
    assert [(thread.name, thread.daemon) for thread in threads] == [("lookup", True)]
