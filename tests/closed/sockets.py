"""Sockets: every one that the processes of a stack listen on, as the kernel lists them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

LISTENS = "0A"
ACCEPTS = 0x10000
"""The flag of a Unix socket that takes connections."""


def family(pid: int) -> set[int]:
    """Return a process and all its descendants."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    processes = {pid}
    while more := {child for child, parent in parents.items() if parent in processes} - processes:
        processes |= more
    return processes


def tcp(pids: set[int]) -> dict[int, str]:
    """Return the TCP ports that these processes listen on, with the address of each."""
    inodes, ports = _inodes(pids), {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS and fields[9] in inodes:
                address, _, port = fields[1].rpartition(":")
                ports[int(port, 16)] = _address(bytes.fromhex(address))
    return ports


def _address(raw: bytes) -> str:
    """Parse an address: the kernel writes words of four bytes, each as the machine keeps it."""
    words = [raw[at : at + 4] for at in range(0, len(raw), 4)]
    address = ip_address(b"".join(word[::-1] if sys.byteorder == "little" else word for word in words))
    return str(getattr(address, "ipv4_mapped", None) or address)


def udp(pids: set[int]) -> list[str]:
    """Return the UDP sockets of these processes."""
    inodes = _inodes(pids)
    lines = [line.split() for table in ("udp", "udp6") for line in Path("/proc/net", table).read_text().splitlines()[1:]]
    return [fields[1] for fields in lines if fields[9] in inodes]


def unix(pids: set[int]) -> list[Path]:
    """Return the Unix sockets that these processes listen on; one in the abstract namespace begins with @."""
    inodes = _inodes(pids)
    lines = [line.split(maxsplit=7) for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return [Path(fields[7]) for fields in lines if int(fields[3], 16) & ACCEPTS and fields[6] in inodes and len(fields) > 7]


def _inodes(pids: set[int]) -> set[str]:
    return {inode for pid in pids for inode in _sockets(pid)}


def _sockets(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                target = str(link.readlink())
                if target.startswith("socket:["):
                    yield target[8:-1]
