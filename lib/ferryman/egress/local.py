"""The pretend internet's names and dialer, for the local stack only: validated addresses are mapped to loopback ports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from pathlib import Path

import httpcore

from ferryman.domain.address import Address
from ferryman.egress.pin import PORT, assert_peer

LOOPBACK = IPv4Address("127.0.0.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What the file says: addresses by name, loopback ports by address, and the authority to trust."""

    names: Mapping[str, tuple[Address, ...]]
    ports: Mapping[Address, int]
    ca: Path | None


class Pretend:
    """`ports.Names` and `Dialer` on a table file `{"names": {host: [ip]}, "dial": {ip: port}, "ca": path}`.

    The file is read again when it changes. Raises OSError for a file that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._table = Table(names={}, ports={}, ca=None)

    @property
    def ca(self) -> Path | None:
        """The file of the authorities that the pretend internet's servers are certified by."""
        return self._read().ca

    async def resolve(self, host: str) -> Sequence[Address]:
        found = self._read().names.get(host)
        if not found:
            raise OSError("no such name in the pretend internet")
        return found

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        mapped = self._read().ports.get(address)
        if mapped is None or port != PORT:
            raise httpcore.ConnectError("nothing listens there in the pretend internet")
        stream = await httpcore.AnyIOBackend().connect_tcp(str(LOOPBACK), mapped, timeout=timeout_s)
        await assert_peer(stream, LOOPBACK, mapped)
        return stream

    def _read(self) -> Table:
        status = self._path.stat()
        seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        if seen != self._seen:
            try:
                self._table = _parse(json.loads(self._path.read_bytes()))
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                raise OSError("the table of the pretend internet cannot be read") from error
            self._seen = seen
        return self._table


def _parse(content: Mapping[str, Mapping[str, list[str]]]) -> Table:
    ca = content.get("ca")
    return Table(
        names={host.lower(): tuple(ip_address(each) for each in answers) for host, answers in content["names"].items()},
        ports={ip_address(address): int(str(port)) for address, port in content.get("dial", {}).items()},
        ca=Path(str(ca)) if ca else None,
    )
