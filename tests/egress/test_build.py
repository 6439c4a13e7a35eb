"""The way out of a process: on the internet, or on the simulated internet of a local stack."""

from __future__ import annotations

import asyncio
import json
import ssl
from ipaddress import ip_address
from pathlib import Path

import httpcore
import pytest

from emulator.internet.authority import Authority
from ferryman.egress.build import build_gate
from ferryman.egress.pin import DirectDialer, NullDialer, PeerNotPinnedError, PinnedNetwork, Resolver
from ferryman.egress.simulated import SimulatedInternet
from ferryman.inmemory.log import RecordingLog
from ferryman.settings import Settings


def test_a_deployed_process_asks_the_system_and_trusts_the_known_authorities() -> None:
    log = RecordingLog()
    gate = build_gate(Settings(request_s=7), log)
    assert (type(gate.names), type(gate.dial)) == (Resolver, DirectDialer)
    assert (gate.within_s, gate.tracer) == (7, log)
    assert len(gate.tls.get_ca_certs()) > 50


def test_a_local_process_trusts_the_authority_of_its_table_alone(tmp_path: Path, authority: Authority) -> None:
    table, log = tmp_path / "internet.json", RecordingLog()
    table.write_text(json.dumps({"names": {}, "dial": {}, "ca": str(authority.path)}))
    gate = build_gate(Settings(simulated_internet=table, request_s=7), log)
    assert type(gate.names) is SimulatedInternet
    assert gate.names is gate.dial
    assert (gate.within_s, gate.tracer) == (7, log)
    assert len(gate.tls.get_ca_certs()) == 1
    assert (gate.tls.verify_mode, gate.tls.check_hostname) == (ssl.CERT_REQUIRED, True)


async def test_an_address_is_dialled_as_it_is() -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        stream = await DirectDialer().dial(ip_address("127.0.0.1"), port, timeout_s=5)
        assert stream.get_extra_info("server_addr") == ("127.0.0.1", port)
        await stream.aclose()


async def test_a_null_dialer_dials_nothing() -> None:
    with pytest.raises(httpcore.ConnectError, match="nothing is dialled here"):
        await NullDialer().dial(ip_address("127.0.0.1"), 443, timeout_s=1)


async def test_a_network_without_addresses_connects_to_nothing() -> None:
    with pytest.raises(PeerNotPinnedError, match="not the host and port of this call"):
        await PinnedNetwork("a.test", (), NullDialer()).connect_tcp("a.test", 443)
