"""Names: which public addresses a name has, and which loopback port stands for each of them."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from emulator.files import replace
from emulator.reading import Invalid

# A public block of which nothing here is ever dialled: the gate must judge an address as it would in the cloud.
FIRST_ADDRESS = ipaddress.IPv4Address("25.0.0.1")
HOST = re.compile(r"(?=.{1,253}\Z)(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a name stands for: its addresses, and address -> loopback port for those that can be dialled."""

    addresses: tuple[str, ...]
    dial: Mapping[str, int] = field(default_factory=dict)


class Names:
    """The name table and its file, replaced atomically on each change, so that a reader sees a whole one."""

    def __init__(self, path: Path, *, allocated: Path, ca: Path) -> None:
        self.path = path
        self._allocated_path = allocated
        self._ca = ca
        self._entries: dict[str, Entry] = {}
        self._allocated: dict[str, str] = json.loads(allocated.read_text()) if allocated.exists() else {}
        self.write()

    def entries(self) -> Mapping[str, Entry]:
        """All names."""
        return self._entries

    def put(self, host: str, *, port: int, addresses: Sequence[str] = (), dial: Mapping[str, int] | None = None) -> Entry:
        """
        Give a name its addresses. Without any, it gets one of its own for good, dialled at the port; addresses that are
        given can be dialled only where `dial` says so. Raises Invalid.
        """
        host = host_name(host)
        if addresses:
            given = tuple(dict.fromkeys(_address(text) for text in addresses))
            ports = {_address(text): _port(number) for text, number in (dial or {}).items()}
            if stray := sorted(set(ports) - set(given)):
                raise Invalid(f"dial names addresses that {host} does not have: {', '.join(stray)}")
        else:
            if dial:
                raise Invalid("dial goes with addresses: an address of its own is dialled anyway")
            given = (self._allocate(host),)
            ports = {given[0]: _port(port)}
        self._check_clash(host, ports)
        self._entries[host] = Entry(addresses=given, dial=ports)
        self.write()
        return self._entries[host]

    def remove(self, host: str) -> bool:
        """Forget a name; false if it was not there."""
        found = self._entries.pop(host.lower(), None) is not None
        self.write()
        return found

    def write(self) -> None:
        """Put the table where the functions read it."""
        table = {
            "names": {host: list(entry.addresses) for host, entry in self._entries.items()},
            "dial": {address: port for entry in self._entries.values() for address, port in entry.dial.items()},
            "ca": str(self._ca.resolve()),
        }
        replace(self.path, json.dumps(table, indent=1))

    def _check_clash(self, host: str, ports: Mapping[str, int]) -> None:
        for other, entry in self._entries.items():
            for address, port in entry.dial.items():
                if other != host and ports.get(address, port) != port:
                    raise Invalid(f"{address} already stands for port {port}, as {other}")

    def _allocate(self, host: str) -> str:
        if host not in self._allocated:
            self._allocated[host] = str(FIRST_ADDRESS + len(self._allocated))
            replace(self._allocated_path, json.dumps(self._allocated, indent=1))
        return self._allocated[host]


def host_name(text: str) -> str:
    """A host name in lower case; raises Invalid for anything that is not one."""
    host = text.lower()
    if not HOST.match(host) or host.rsplit(".", 1)[-1].isdigit():
        raise Invalid(f"{text!r} is not a host name")
    return host


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError as error:
        raise Invalid(f"{text!r} is not an IP address") from error


def _port(number: int) -> int:
    if not 1 <= number <= 65535:
        raise Invalid(f"port must be 1 to 65535, not {number}")
    return number
