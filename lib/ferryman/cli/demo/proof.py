"""The proof: the planted key is looked for, in every form it could hide in, wherever anything was kept or said."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

PROJECT_PARENT = "projects/{project}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """One place: how many things were looked through, how many bytes, and how many of them held the key."""

    place: str
    things: int
    size_bytes: int
    found: int


def forms(key: str) -> tuple[bytes, ...]:
    """The key as it stands, reversed, in hex, percent-encoded, and in base64 wherever it may begin in a longer text."""
    raw = key.encode()
    found = {raw, raw[::-1], raw.hex().encode(), raw.hex().upper().encode(), quote(key, safe="").encode()}
    found.add("".join(f"%{byte:02X}" for byte in raw).encode())
    for start in range(3):
        padded = base64.b64encode(b"\0" * start + raw)
        # the characters that depend on what stands before and after are left out
        core = padded[(0, 2, 3)[start] : len(padded) - 4]
        found |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    return tuple(found)


def search(place: str, things: Iterable[bytes], needles: Iterable[bytes]) -> Searched:
    """Look through `things` for any of `needles`."""
    listed, wanted = list(things), tuple(needles)
    found = sum(any(needle in thing for needle in wanted) for thing in listed)
    return Searched(place=place, things=len(listed), size_bytes=sum(map(len, listed)), found=found)


def flat(value: object) -> bytes:
    """Every text, number and byte in `value`, names of fields included, a line each."""
    return b"\n".join(_leaves(value))


def _leaves(value: object) -> Iterator[bytes]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name).encode()
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, bytes):
        yield value
    else:
        yield str(value).encode(errors="surrogatepass")


def outside_header(request: Mapping[str, Any], header: str) -> bytes:
    """A request as its host saw it, without the value of one header."""
    rest = [[name, "" if name.lower() == header else value] for name, value in request["headers"]]
    return flat({**request, "headers": rest})


def in_header(request: Mapping[str, Any], header: str) -> bytes:
    """The value of one header of a request."""
    return json.dumps([value for name, value in request["headers"] if name.lower() == header]).encode()
