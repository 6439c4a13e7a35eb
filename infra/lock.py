"""The lock: the packages of requirements.lock, who needs whom, and the part of it that a function needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

_PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==")
_VIA = re.compile(r"\s*#\s+(?:via\s+)?([A-Za-z0-9._-]+)(?: \(.*\))?\s*")
_VERSION = re.compile(r"[\s;]")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_COMMENT = re.compile(r"\s*#")

EXTRA_ONLY = frozenset({("googleapis-common-protos", "grpcio")})
"""Who needs what for an extra alone, which uv's comments do not say: where it is asked for, other needs lead there, too."""


class UnpinnedError(Exception):
    """A package is not in the lock, or the lock is not one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One package of the lock: its lines as they stand, hashes and markers included, and the packages that need it."""

    lines: tuple[str, ...]
    needed_by: frozenset[str]

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return _VERSION.split(self.lines[0].partition("==")[2])[0]

    @property
    def marker(self) -> str:
        """Where the package is wanted, as PEP 508 writes it; empty where it is wanted everywhere."""
        return self.lines[0].partition(";")[2].strip(" \\")

    @property
    def hashes(self) -> tuple[str, ...]:
        """The SHA-256, in hexadecimal, of each of its files that may be installed."""
        return tuple(digest for line in self.lines for digest in _HASH.findall(line))


def canonical(name: str) -> str:
    """Return the one spelling of a package's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def read(text: str) -> Mapping[str, Pin]:
    """Return the pins of a lock that `uv pip compile --generate-hashes` wrote, by canonical name. Raises `UnpinnedError`."""
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if _PIN.match(line):
            blocks.append([])
        if blocks and line.strip():
            blocks[-1].append(line)
    pins = {}
    for block in blocks:
        match = _PIN.match(block[0])
        lines = tuple(line for line in block if not _COMMENT.match(line))
        if match is None or not any("--hash=sha256:" in line for line in lines):
            raise UnpinnedError(f"{block[0]} has no hash")
        needed_by = (_VIA.fullmatch(line) for line in block if _COMMENT.match(line))
        pins[canonical(match[1])] = Pin(lines=lines, needed_by=frozenset(canonical(via[1]) for via in needed_by if via))
    return pins


def needed(pins: Mapping[str, Pin], roots: Iterable[str]) -> list[str]:
    """Return `roots` and all that they need, in turn, sorted. Raise `UnpinnedError`."""
    names: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in pins:
            raise UnpinnedError(f"{name} is imported and is not in the lock")
        if name not in names:
            names.add(name)
            waiting += [
                dependency for dependency, pin in pins.items() if name in pin.needed_by and (name, dependency) not in EXTRA_ONLY
            ]
    return sorted(names)


def requirements(pins: Mapping[str, Pin], names: Iterable[str]) -> str:
    """Return the requirements.txt of these packages, with the hashes of the lock."""
    return "".join(f"{line}\n" for name in names for line in pins[name].lines)
