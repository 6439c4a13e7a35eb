"""Walk: everything a request carries that the model wrote, and the ways its pieces may be put together again."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple
from urllib.parse import unquote

from ferryman.domain.http import Outbound
from ferryman.egress.holes import names, shown
from ferryman.egress.leaks import escapes

PIECE_MAX = 4_096
"""A single piece longer than this is not decoded by itself: it is where everything stands in order."""

_ROUNDS = 3
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f ]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+")
_CODED = re.compile(r"[A-Za-z0-9+/_-]+=*|[0-9A-Fa-f]{2}[0-9A-Fa-f ]+")
_SIGNS = re.compile(r"[%\\&+]")
_PRINTABLE = bytes(range(0x20, 0x7F))
_ADDRESS = re.compile(r"[A-Za-z]+://([^\s/?#]*)\S*")


class Piece(NamedTuple):
    """One text: `name` is the last key or header name above it, `path` says where it stands; a key is a piece of its own."""

    path: str
    name: str
    text: str
    key: bool = False

    def __repr__(self) -> str:
        return f"Piece(key={self.key})"  # nothing of it has been looked through


def pieces(outbound: Outbound) -> list[Piece]:
    """Everything the model supplied, in order."""
    found = [Piece(field, field, str(text)) for field, text in _scalars(outbound)]
    found += _url(outbound.url, "url")
    headers, query, body = outbound.headers, outbound.query_params, outbound.body
    if names(outbound):
        query, body = shown(query), shown(body)
    found += leaves(headers, "headers")
    found += leaves(shown(outbound.fixed_headers), "headers")
    found += leaves(query, "query_params")
    found += leaves(body, "body")
    return found


def leaves(value: Any, path: str) -> list[Piece]:
    """The keys and leaves of a JSON value in order. Walks without recursion: hostile nesting cannot exhaust the stack."""
    found: list[Piece] = []
    if not isinstance(value, dict | list | tuple):
        value = (value,)
    open_ = [(path, path, isinstance(value, dict), _entries(value))]
    while open_:
        where, name, keyed, entries = open_[-1]
        for key, item in entries:
            if keyed:
                name = key if isinstance(key, str) else _text(key) or str(key)
                here = f"{where}.{name}"
                found.append(Piece(here, name, name, key=True))
            else:
                here = f"{where}.{key:06}"
            if isinstance(item, str):
                found.append(Piece(here, name, item))
            elif isinstance(item, dict | list | tuple):
                open_.append((here, name, isinstance(item, dict), _entries(item)))
                break
            elif (text := _text(item)) is not None:
                found.append(Piece(here, name, text))
        else:
            open_.pop()
    return found


def _entries(value: Any) -> Iterator[tuple[Any, Any]]:
    return iter(value.items() if isinstance(value, dict) else enumerate(value))


def opened(found: list[Piece]) -> list[Piece]:
    """`found` with every URL among the values taken apart: what is split over two of them stands in the same part of each."""
    apart: list[Piece] = []
    for piece in found:
        address = None if piece.key else _ADDRESS.fullmatch(piece.text)
        if address is None:
            apart.append(piece)
            continue
        apart.append(Piece("url", piece.name, piece.text))
        apart += [Piece(f"{piece.path}.host.{index:06}", "host", label) for index, label in enumerate(address[1].split("."))]
        apart += _url(piece.text, piece.path)
    return apart


def joined(found: list[Piece]) -> tuple[str, str]:
    """The texts worth decoding: everything in order, and the values alone, which joins what was split over fields."""
    return "\n".join(piece.text for piece in found), "".join(
        piece.text for piece in found if not piece.key and piece.path != "url"
    )


def apart(found: list[Piece]) -> str:
    """All keys, then all values: decoded as a whole it shows what is split over either, at half the price."""
    keys = [piece.text for piece in found if piece.key or piece.path == "url"]
    return "\n".join((*keys, *(piece.text for piece in found if not piece.key and piece.path != "url")))


def rearranged(found: list[Piece]) -> Iterator[str]:
    """Further ways to put the pieces together, for a look at their letters and digits only."""
    values = [piece for piece in found if not piece.key and piece.path != "url"]
    texts = [piece.text for piece in values]
    plain = [*map(lru_cache(_plain), texts)]
    ways = (
        texts,
        [piece.text for piece in found if piece.key],
        texts[::-1],
        [piece.text for piece in sorted(values, key=itemgetter(0))],
        [piece.text for piece in sorted(values, key=itemgetter(1))],
        [text for text in texts if not text.isdecimal()],
        plain,
        plain[::-1],
        *(
            [piece.text for piece in values if not piece.path.startswith(field)]
            for field in ("url.", "headers.", "query_params.")
        ),
    )
    yield from dict.fromkeys(map("".join, ways))


def _scalars(outbound: Outbound) -> Iterator[tuple[str, str]]:
    yield "tool", outbound.tool
    yield "method", outbound.method
    if outbound.credential is not None:
        yield "credential", outbound.credential
    yield "url", outbound.url


def _url(url: str, where: str) -> Iterator[Piece]:
    """The segments of the path and the values of the query, each a piece; the URL as a whole is one already."""
    rest, _, fragment = url.partition("#")
    rest, _, query = rest.partition("?")
    _, _, path = rest.partition("://")[2].partition("/")
    for index, segment in enumerate(path.split("/")):
        yield Piece(f"{where}.path.{index:06}", "path", segment)
    for part in query.split("&"):
        name, _, value = part.partition("=")
        yield Piece(f"{where}.query.{name}", name, name, key=True)
        yield Piece(f"{where}.query.{name}", name, value)
    yield Piece(f"{where}.fragment", "fragment", fragment)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return None
    try:
        return str(value)
    except ValueError:
        return ""  # an integer too long to be written is too long to be sent


def _plain(text: str) -> str:
    """What a single piece stands for, if it is wholly written in one notation after another."""
    for _ in range(_ROUNDS):
        if not 4 <= len(text) <= PIECE_MAX or (text.isalpha() and text.islower()):
            break
        before = text
        if _SIGNS.search(text):
            text = escapes.unescaped(unquote(text))
        if _CODED.fullmatch(text):
            text = _hexadecimal(text) or _base64(text) or text
        if text == before:
            break
    return text


def _hexadecimal(text: str) -> str:
    if _HEXADECIMAL.fullmatch(text) is None:
        return ""
    try:
        content = bytes.fromhex(text)
    except ValueError:
        return ""
    return content.decode("ascii") if _printable(content) else ""


def _base64(text: str) -> str:
    compact = text.replace("-", "+").replace("_", "/").rstrip("=")
    if len(compact) % 4 == 1 or not _BASE64.fullmatch(compact):
        return ""
    content = binascii.a2b_base64(compact + "=" * (-len(compact) % 4))
    return content.decode("ascii") if _printable(content) else ""


def _printable(content: bytes) -> bool:
    return bool(content) and not content.translate(None, _PRINTABLE)
