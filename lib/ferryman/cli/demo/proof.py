"""The proof: the canary key is searched for, in every form it could hide in, wherever anything was stored or sent."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

PROJECT_PARENT = "projects/{project}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One place: how many things were searched, how many bytes, and how many of them held the key."""

    place: str
    things: int
    size_bytes: int
    hits: int


def encode_forms(key: str) -> tuple[bytes, ...]:
    """Return the key as it is, reversed, in hex, percent-encoded, and in base64 wherever it may begin in a longer text."""
    raw = key.encode()
    forms = {raw, raw[::-1], raw.hex().encode(), raw.hex().upper().encode(), quote(key, safe="").encode()}
    forms.add("".join(f"%{byte:02X}" for byte in raw).encode())
    for start in range(3):
        padded = base64.b64encode(b"\0" * start + raw)
        # the characters that depend on what is before and after are left out
        core = padded[(0, 2, 3)[start] : len(padded) - 4]
        forms |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    return tuple(forms)


def search(place: str, things: Iterable[bytes], forms: Iterable[bytes]) -> SearchResult:
    """Search `things` for any of `needles`."""
    listed, patterns = list(things), tuple(forms)
    hits = sum(any(form in thing for form in patterns) for thing in listed)
    return SearchResult(place=place, things=len(listed), size_bytes=sum(map(len, listed)), hits=hits)


def flatten(value: object) -> bytes:
    """Return every text, number and byte in `value`, names of fields included, a line each."""
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


def drop_header(request: Mapping[str, Any], header: str) -> bytes:
    """Return a request as its host saw it, without the value of one header."""
    rest = [[name, "" if name.lower() == header else value] for name, value in request["headers"]]
    return flatten({**request, "headers": rest})


def extract_header(request: Mapping[str, Any], header: str) -> bytes:
    """Return the value of one header of a request."""
    return json.dumps([value for name, value in request["headers"] if name.lower() == header]).encode()
