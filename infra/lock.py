"""The lock: the packages of requirements.lock, who needs whom, and the part of it that a function needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==")
_VIA = re.compile(r"\s*#\s+(?:via\s+)?([A-Za-z0-9._-]+)(?: \(.*\))?\s*")
_COMMENT = re.compile(r"\s*#")


class Unpinned(Exception):  # noqa: N818 - reads as the fact it states
    """A package is not in the lock, or the lock is not one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One package of the lock: its lines as they stand, hashes and markers included, and the packages that need it."""

    lines: tuple[str, ...]
    needed_by: frozenset[str]


def canonical(name: str) -> str:
    """The one spelling of a package's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read(text: str) -> dict[str, Pin]:
    """The pins of a lock that `uv pip compile --generate-hashes` wrote, by canonical name. Raises `Unpinned`."""
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
            raise Unpinned(f"{block[0]} has no hash")
        needed_by = (_VIA.fullmatch(line) for line in block if _COMMENT.match(line))
        pins[canonical(match[1])] = Pin(lines=lines, needed_by=frozenset(canonical(each[1]) for each in needed_by if each))
    return pins


def needed(pins: Mapping[str, Pin], roots: Iterable[str]) -> list[str]:
    """`roots` and all that they need, in turn, sorted. Raises `Unpinned`."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in pins:
            raise Unpinned(f"{name} is imported and is not in the lock")
        if name not in found:
            found.add(name)
            waiting += [each for each, pin in pins.items() if name in pin.needed_by]
    return sorted(found)


def requirements(pins: Mapping[str, Pin], names: Iterable[str]) -> str:
    """The requirements.txt of these packages, with the hashes of the lock."""
    return "".join(f"{line}\n" for name in names for line in pins[name].lines)
