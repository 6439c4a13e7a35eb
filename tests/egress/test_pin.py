"""Pinning: nothing is dialled that was not validated for this very call."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import httpcore
import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.address import ANSWERS_MAX, Address, is_public
from ferryman.egress.pin import PeerNotPinnedError, PinnedNetwork, Resolver, assert_peer, resolve_public_addresses
from tests.figures import Tally

SCHEDULES = 10_000
PRIVATE = [
    ip_address(address) for address in ("169.254.169.254", "10.0.0.1", "127.0.0.1", "::1", "fd20:ce::254", "::ffff:10.0.0.1")
]


class Schedule:
    """A name whose answers change with every lookup; an answer of None never comes."""

    def __init__(self, answers: Sequence[Sequence[Address] | Exception | None]) -> None:
        self._answers = list(answers)
        self.answers: list[Sequence[Address]] = []

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:
        answer = self._answers.pop(0)
        if answer is None:
            await asyncio.Event().wait()
            return ()
        if isinstance(answer, Exception):
            raise answer
        self.answers.append(answer)
        return answer


class Stream(httpcore.AsyncNetworkStream):
    """A connection that only knows its peer."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.closed = False

    def get_extra_info(self, info: str) -> object:
        return (self.peer, 443) if info == "server_addr" else None

    async def aclose(self) -> None:
        self.closed = True


class Recorder:
    """Remembers what it is asked to dial; some addresses are dead."""

    def __init__(self, dead: Sequence[Address] = ()) -> None:
        self.dialled: list[Address] = []
        self._dead = dead

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        self.dialled.append(address)
        if address in self._dead:
            raise httpcore.ConnectError("dead")
        return Stream(str(address))


def good(dice: random.Random, most: int = 4) -> list[Address]:
    """Return public addresses, most of them of IPv4."""
    four: list[Address] = [IPv4Address(dice.randrange(0x01000000, 0x09FFFFFF)) for _ in range(dice.randint(1, most))]
    return [*four, *([IPv6Address(0x2606 << 112 | dice.getrandbits(64))] if dice.random() < 0.3 else [])]


def mix(dice: random.Random) -> list[Address]:
    """Return public addresses with one or more of the other kind among them."""
    resolved = [*good(dice), *dice.sample(PRIVATE, dice.randint(1, 3))]
    dice.shuffle(resolved)
    return resolved


CALLS = 4
KINDS: dict[str, Callable[[random.Random], list[Sequence[Address] | Exception | None]]] = {
    "flips": lambda dice: [good(dice) if (turn + dice.randrange(2)) % 2 else [dice.choice(PRIVATE)] for turn in range(CALLS)],
    "mixed": lambda dice: [mix(dice) if dice.random() < 0.8 else good(dice) for _ in range(CALLS)],
    "empty": lambda dice: [dice.choice([[], OSError("no such name"), ValueError("a label is too long")]) for _ in range(CALLS)],
    "many": lambda dice: [good(dice, 3) * dice.randint(1, 40) for _ in range(CALLS)],
    "slow": lambda dice: [None if dice.random() < 0.7 else good(dice) for _ in range(CALLS)],
    "anything": lambda dice: [dice.choice([[], None, OSError(), good(dice), mix(dice), good(dice) * 20]) for _ in range(CALLS)],
}


@pytest.mark.parametrize("kind", KINDS)
async def test_in_ten_thousand_schedules_nothing_unvalidated_is_dialled(kind: str, tally: Tally) -> None:
    dice = random.Random(11)
    connected = 0
    for _ in range(-(-SCHEDULES // len(KINDS))):
        names = Schedule(KINDS[kind](dice))
        faults = 0
        for _ in range(CALLS):
            looked_up = len(names.answers)
            recorder = Recorder()
            try:
                addresses = await resolve_public_addresses(
                    "a.test", names, owner="ann", within_s=0.0 if kind in ("slow", "anything") else 5
                )
                recorder = Recorder(addresses[: dice.randrange(len(addresses))])
                await PinnedNetwork("a.test", addresses, recorder).connect_tcp("a.test", 443)
                connected += 1
            except (CallRefusedError, httpcore.ConnectError):
                pass
            answered = names.answers[looked_up:]
            # one lookup a call: what it answered is all that may be dialled, and only when all of it is public
            dialled_well = all(is_public(address) and address in answered[0] for address in recorder.dialled)
            all_public = (
                bool(answered) and len(answered[0]) <= ANSWERS_MAX and all(is_public(address) for address in answered[0])
            )
            faults += len(answered) > 1 or not dialled_well or bool(recorder.dialled) is not (all_public and bool(answered[0]))
        tally("DNS schedules", kind, faults == 0)
        assert faults == 0
    assert connected > 500 or kind == "empty"


@pytest.mark.parametrize("host", ["8.8.8.8", "::1", "2606:4700::1"])
async def test_a_literal_is_no_host(host: str) -> None:
    with pytest.raises(CallRefusedError):
        await resolve_public_addresses(host, Schedule([[ip_address("8.8.8.8")]]), owner="ann")


async def test_as_many_answers_as_allowed_are_taken_and_one_more_is_refused() -> None:
    many = [ip_address(f"8.8.8.{last}") for last in range(ANSWERS_MAX + 1)]
    assert await resolve_public_addresses("a.test", Schedule([many[:-1]]), owner="ann") == tuple(many[:-1])
    with pytest.raises(CallRefusedError):
        await resolve_public_addresses("a.test", Schedule([many]), owner="ann")


async def test_a_slow_name_is_refused() -> None:
    class Slow:
        async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:
            await asyncio.Event().wait()
            return []

    with pytest.raises(CallRefusedError):
        await resolve_public_addresses("a.test", Slow(), owner="ann", within_s=0.01)


async def test_the_first_validated_address_that_answers_is_connected_to() -> None:
    recorder = Recorder()
    addresses = [ip_address("2606:4700::1"), ip_address("8.8.8.8"), ip_address("8.8.4.4")]
    resolved = await resolve_public_addresses("a.test", Schedule([addresses]), owner="ann")
    await PinnedNetwork("a.test", resolved, recorder).connect_tcp("a.test", 443)
    assert (resolved, recorder.dialled) == ((addresses[1], addresses[2], addresses[0]), [addresses[1]])


async def test_an_address_of_ipv6_is_dialled_as_it_is() -> None:
    recorder = Recorder()
    resolved = await resolve_public_addresses("a.test", Schedule([[ip_address("2606:4700::1")]]), owner="ann")
    await PinnedNetwork("a.test", resolved, recorder).connect_tcp("a.test", 443)
    assert recorder.dialled == [IPv6Address("2606:4700::1")]


async def test_names_are_looked_up_by_getaddrinfo(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups: list[tuple[object, ...]] = []

    def getaddrinfo(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        lookups.append((host, port))
        addresses = ("8.8.8.8", "8.8.8.8", "2606:4700::1")
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert await Resolver().resolve("a.test", owner="ann") == (ip_address("8.8.8.8"), ip_address("2606:4700::1"))
    assert lookups == [("a.test.", 443)]


async def test_failover_goes_to_the_next_validated_address() -> None:
    both = [ip_address("8.8.8.8"), ip_address("8.8.4.4")]
    recorder = Recorder(dead=both[:1])
    await PinnedNetwork("a.test", both, recorder).connect_tcp("a.test", 443)
    assert recorder.dialled == both


@pytest.mark.parametrize(("host", "port"), [("b.test", 443), ("a.test", 80), ("8.8.8.8", 443)])
async def test_another_host_or_port_is_not_dialled(host: str, port: int) -> None:
    recorder = Recorder()
    with pytest.raises(PeerNotPinnedError):
        await PinnedNetwork("a.test", [ip_address("8.8.8.8")], recorder).connect_tcp(host, port)
    assert not recorder.dialled


async def test_a_unix_socket_is_not_dialled() -> None:
    with pytest.raises(PeerNotPinnedError):
        await PinnedNetwork("a.test", [ip_address("8.8.8.8")], Recorder()).connect_unix_socket("/run/docker.sock")


async def test_a_connection_to_another_peer_is_closed() -> None:
    stream = Stream("10.0.0.1")
    with pytest.raises(PeerNotPinnedError):
        await assert_peer(stream, ip_address("8.8.8.8"), 443)
    assert stream.closed


class SilentNames:
    """A system resolver whose names of `slow` never answer until they are released."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.slow: list[str] = []

    def __call__(self, host: str) -> Sequence[Address]:
        if host.startswith("slow"):
            self.slow.append(host)
            self.release.wait()
        return [ip_address("8.8.8.8")]


@pytest.mark.parametrize("count", [24, 200])
async def test_names_without_an_answer_do_not_hold_up_another_owners_good_one(tally: Tally, count: int) -> None:
    silent_names = SilentNames()
    resolver = Resolver(silent_names)
    waiting = [asyncio.create_task(resolver.resolve(f"slow{number}.test", owner="greedy")) for number in range(count)]
    await asyncio.sleep(0)
    async with asyncio.timeout(0.5):
        resolved = await resolver.resolve("good.test", owner="ann")
    held_up = not all(not task.done() for task in waiting)
    tally("DNS schedules", f"{count} unreachable", not held_up)
    assert (resolved, held_up) == ([ip_address("8.8.8.8")], False)
    silent_names.release.set()
    await asyncio.gather(*waiting)


async def test_an_owner_has_so_many_lookups_under_way_the_abandoned_ones_among_them() -> None:
    silent_names = SilentNames()
    resolver = Resolver(silent_names, per_owner=3)
    waiting = [asyncio.create_task(resolver.resolve(f"slow{number}.test", owner="ann")) for number in range(10)]
    await asyncio.sleep(0)
    for task in waiting[:3]:
        task.cancel()
    await asyncio.wait(waiting[:3])
    with pytest.raises(CallRefusedError):
        await resolve_public_addresses("good.test", resolver, owner="ann", within_s=0.05)
    assert len(silent_names.slow) == 3
    silent_names.release.set()
    await asyncio.gather(*waiting[3:])
    assert await resolver.resolve("good.test", owner="ann") == [ip_address("8.8.8.8")]


async def test_more_lookups_than_there_is_room_for_are_refused_at_once() -> None:
    release = threading.Event()

    def lookup(host: str) -> Sequence[Address]:
        release.wait()
        return []

    resolver = Resolver(lookup, maximum=2)
    waiting = [asyncio.create_task(resolver.resolve("slow.test", owner="ann")) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(OSError, match="too many"):
        await resolver.resolve("more.test", owner="ann")
    release.set()
    await asyncio.gather(*waiting)


async def test_whatever_the_system_raises_is_a_failed_lookup() -> None:
    def lookup(host: str) -> Sequence[Address]:
        raise UnicodeError("label too long")

    with pytest.raises(OSError, match="could not be looked up"):
        await Resolver(lookup).resolve("a.test", owner="ann")
