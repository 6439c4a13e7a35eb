"""Host names: the public addresses of each name, and the loopback port behind each address."""

from __future__ import annotations

import dataclasses
import ipaddress
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from emulator.files import replace
from emulator.reading import InvalidRequestError

# A public block of which nothing here is ever dialled: the gate must judge an address as it would in the cloud.
FIRST_ADDRESS = ipaddress.IPv4Address("25.0.0.1")
LOOKUP_S_MAX = 60.0
HOST = re.compile(r"(?=.{1,253}\Z)(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEntry:
    """The addresses of a name, and address -> loopback port for those that can be dialled."""

    addresses: tuple[str, ...]
    dial: Mapping[str, int] = field(default_factory=dict)
    lookup_s: float = 0.0
    """How long a lookup takes, in seconds."""


class HostNames:
    """The name table and its file, replaced atomically on each change, so that a reader sees a whole one."""

    def __init__(self, path: Path, *, allocated: Path, ca: Path, client: Path, clear: Mapping[int, int] | None = None) -> None:
        """`clear` maps the port of a server to the one where it answers plain HTTP."""
        self.path = path
        self._clear = clear or {}
        self._allocated_path = allocated
        self._ca = ca
        self._client = client
        self._entries: dict[str, HostEntry] = {}
        self._allocated: dict[str, str] = json.loads(allocated.read_text()) if allocated.exists() else {}
        self.write()

    def entries(self) -> Mapping[str, HostEntry]:
        """Return all names."""
        return self._entries

    def put(self, host: str, *, port: int, addresses: Sequence[str] = (), dial: Mapping[str, int] | None = None) -> HostEntry:
        """
        Give a name its addresses. Without any, it gets one of its own for good, dialled at the port; addresses that are
        given can be dialled only where `dial` says so. Raise InvalidRequestError.
        """
        host = host_name(host)
        if addresses:
            listed_addresses = tuple(dict.fromkeys(_address(text) for text in addresses))
            ports = {_address(text): _port(number) for text, number in (dial or {}).items()}
            if stray := sorted(set(ports) - set(listed_addresses)):
                raise InvalidRequestError(f"dial names addresses that {host} does not have: {', '.join(stray)}")
        else:
            if dial:
                raise InvalidRequestError("dial goes with addresses: an address of its own is dialled anyway")
            listed_addresses = (self._allocate(host),)
            ports = {listed_addresses[0]: _port(port)}
        self._check_clash(host, ports)
        self._entries[host] = HostEntry(addresses=listed_addresses, dial=ports)
        self.write()
        return self._entries[host]

    def slow(self, host: str, lookup_s: float) -> None:
        """Let each lookup of a name that is there take so many seconds. Raise InvalidRequestError."""
        if not 0 <= lookup_s <= LOOKUP_S_MAX:
            raise InvalidRequestError(f"lookup_s must be 0 to {LOOKUP_S_MAX}")
        self._entries[host_name(host)] = dataclasses.replace(self._entries[host_name(host)], lookup_s=lookup_s)
        self.write()

    def remove(self, host: str) -> bool:
        """Forget a name; false if it was not there."""
        entry = self._entries.pop(host.lower(), None) is not None
        self.write()
        return entry

    def write(self) -> None:
        """Put the table where the functions read it."""
        table = {
            "names": {host: list(entry.addresses) for host, entry in self._entries.items()},
            "dial": {address: port for entry in self._entries.values() for address, port in entry.dial.items()},
            "clear": {
                address: self._clear[port]
                for entry in self._entries.values()
                for address, port in entry.dial.items()
                if port in self._clear
            },
            "slow": {host: entry.lookup_s for host, entry in self._entries.items() if entry.lookup_s},
            "ca": str(self._ca.resolve()),
            "client": str(self._client.resolve()),
        }
        replace(self.path, json.dumps(table, indent=1))

    def _check_clash(self, host: str, ports: Mapping[str, int]) -> None:
        for other, entry in self._entries.items():
            for address, port in entry.dial.items():
                if other != host and ports.get(address, port) != port:
                    raise InvalidRequestError(f"{address} already stands for port {port}, as {other}")

    def _allocate(self, host: str) -> str:
        if host not in self._allocated:
            self._allocated[host] = str(FIRST_ADDRESS + len(self._allocated))
            replace(self._allocated_path, json.dumps(self._allocated, indent=1))
        return self._allocated[host]


def host_name(text: str) -> str:
    """Return a host name in lower case; raise InvalidRequestError for anything that is not one."""
    host = text.lower()
    if not HOST.match(host) or host.rsplit(".", 1)[-1].isdigit():
        raise InvalidRequestError(f"{text!r} is not a host name")
    return host


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError as error:
        raise InvalidRequestError(f"{text!r} is not an IP address") from error


def _port(number: int) -> int:
    if not 1 <= number <= 65535:
        raise InvalidRequestError(f"port must be 1 to 65535, not {number}")
    return number
