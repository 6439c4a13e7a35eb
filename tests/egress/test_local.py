"""The simulated internet's side of the gate: names from a file, dials to loopback only, after validation."""

from __future__ import annotations

import asyncio
import json
from ipaddress import ip_address
from pathlib import Path

import httpcore
import pytest

from ferryman.egress.simulated import SimulatedInternet


def table(path: Path, **content: object) -> SimulatedInternet:
    path.write_text(json.dumps({"names": {"a.test": ["25.0.0.1"]}, "dial": {"25.0.0.1": 1}, "ca": "/tmp/ca.pem", **content}))
    return SimulatedInternet(path)


async def test_a_name_of_the_table_resolves_and_another_does_not(tmp_path: Path) -> None:
    internet = table(tmp_path / "internet.json")
    assert list(await internet.resolve("a.test", owner="ann")) == [ip_address("25.0.0.1")]
    with pytest.raises(OSError, match="no such name"):
        await internet.resolve("b.test", owner="ann")


async def test_the_table_is_read_again_when_it_changes(tmp_path: Path) -> None:
    internet = table(tmp_path / "internet.json")
    await internet.resolve("a.test", owner="ann")
    table(tmp_path / "internet.json", names={"a.test": ["25.0.0.2", "10.0.0.1"]})
    assert list(await internet.resolve("a.test", owner="ann")) == [ip_address("25.0.0.2"), ip_address("10.0.0.1")]


async def test_slow_names_hold_up_their_own_owner_alone(tmp_path: Path) -> None:
    internet = table(
        tmp_path / "internet.json", names={"slow.test": ["25.0.0.2"], "a.test": ["25.0.0.1"]}, slow={"slow.test": 2}
    )
    slow = [asyncio.create_task(internet.resolve("slow.test", owner="greedy")) for _ in range(70)]
    await asyncio.sleep(0)
    async with asyncio.timeout(0.5):
        assert list(await internet.resolve("a.test", owner="ann")) == [ip_address("25.0.0.1")]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await internet.resolve("a.test", owner="greedy")
    for task in slow:
        task.cancel()


async def test_an_address_that_is_not_mapped_is_not_dialled(tmp_path: Path) -> None:
    internet = table(tmp_path / "internet.json")
    for address, port in (("25.0.0.9", 443), ("127.0.0.1", 443), ("25.0.0.1", 80)):
        with pytest.raises(httpcore.ConnectError):
            await internet.dial(ip_address(address), port, timeout_s=1)


async def test_a_mapped_address_is_dialled_on_loopback(tmp_path: Path) -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        stream = await table(tmp_path / "internet.json", dial={"25.0.0.1": port}).dial(ip_address("25.0.0.1"), 443, timeout_s=1)
        assert stream.get_extra_info("server_addr") == ("127.0.0.1", port)
        await stream.aclose()


def test_a_table_has_addresses_waits_ports_and_certificates(tmp_path: Path) -> None:
    names = {"names": {"A.test": ["25.0.0.1", "::1"]}, "slow": {"B.test": 2}, "dial": {"25.0.0.1": "443", "::1": 7}}
    read = table(tmp_path / "internet.json", **names, ca="/ca", client="/client").read_table()
    both = ip_address("25.0.0.1"), ip_address("::1")
    assert (read.names, read.slow, read.ports) == ({"a.test": both}, {"b.test": 2.0}, dict(zip(both, (443, 7), strict=True)))
    assert (read.ca, read.client) == (Path("/ca"), Path("/client"))
    bare = table(tmp_path / "internet.json", dial={}, ca=None).read_table()
    assert (bare.slow, bare.ports, bare.ca, bare.client) == ({}, {}, None, None)


@pytest.mark.parametrize("content", ["", "[]", '{"names": 1}', '{"names": {"a.test": ["x"]}}'])
async def test_a_table_that_cannot_be_read_resolves_nothing(content: str, tmp_path: Path) -> None:
    path = tmp_path / "internet.json"
    path.write_text(content)
    with pytest.raises(OSError):
        await SimulatedInternet(path).resolve("a.test", owner="ann")
