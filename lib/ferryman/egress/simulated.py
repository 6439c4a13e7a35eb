"""The simulated internet of the local stack: its name table, and a dialer from public addresses to loopback ports."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from pathlib import Path

import httpcore

from ferryman.domain.http.address import Address
from ferryman.egress.pin import CLEAR_PORT, PORT, Resolver, assert_peer, connect

LOOPBACK = IPv4Address("127.0.0.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTable:
    """The table file: addresses by name, loopback ports by address (for TLS, and in clear), the authority to trust, the client
    certificate with key."""

    names: Mapping[str, tuple[Address, ...]]
    slow: Mapping[str, float]
    ports: Mapping[Address, int]
    clear: Mapping[Address, int]
    ca: Path | None
    client: Path | None = None


class SimulatedInternet:
    """`ports.Names` and `Dialer` on a table file `{"names": {host: [ip]}, "dial": {ip: port}, "ca": path, "client": path}`.

    The loopback ports under "clear" are those of port 80. Names under "slow" take so many seconds to look up; lookups are
    bounded per owner, as the system's are. The file is read again when it changes. Raise OSError where it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._resolver = Resolver(self._lookup)
        self._status: tuple[int, int, int] | None = None
        self._table = NameTable(names={}, slow={}, ports={}, clear={}, ca=None)

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:
        return await self._resolver.resolve(host, owner=owner)

    def _lookup(self, host: str) -> Sequence[Address]:
        table = self.read_table()
        time.sleep(table.slow.get(host, 0.0))  # in a thread of the resolver's, as the system's own lookup would be
        if not table.names.get(host):
            raise OSError("no such name in the simulated internet")
        return table.names[host]

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        table = self.read_table()
        mapped = {PORT: table.ports, CLEAR_PORT: table.clear}.get(port, {}).get(address)
        if mapped is None:
            raise httpcore.ConnectError("nothing listens there in the simulated internet")
        stream = await connect(str(LOOPBACK), mapped, timeout_s, clear=port == CLEAR_PORT)
        await assert_peer(stream, LOOPBACK, mapped)
        return stream

    def read_table(self) -> NameTable:
        """Return the table; the file is read again when it has changed."""
        status = self._path.stat()
        current = (status.st_mtime_ns, status.st_size, status.st_ino)
        if current != self._status:
            try:
                self._table = _parse_table(json.loads(self._path.read_bytes()))
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                raise OSError("the table of the simulated internet cannot be read") from error
            self._status = current
        return self._table


def _parse_table(content: Mapping[str, Mapping[str, list[str]]]) -> NameTable:
    ca, client = content.get("ca"), content.get("client")
    return NameTable(
        names={host.lower(): tuple(ip_address(answer) for answer in answers) for host, answers in content["names"].items()},
        slow={host.lower(): float(str(seconds)) for host, seconds in content.get("slow", {}).items()},
        ports={ip_address(address): int(str(port)) for address, port in content.get("dial", {}).items()},
        clear={ip_address(address): int(str(port)) for address, port in content.get("clear", {}).items()},
        ca=Path(str(ca)) if ca else None,
        client=Path(str(client)) if client else None,
    )
