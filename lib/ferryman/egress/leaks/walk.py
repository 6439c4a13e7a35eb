"""Walk: everything a request carries that the model wrote, and the ways its pieces may be put together again."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple
from urllib.parse import unquote

from ferryman.domain.http.request import OutboundRequest
from ferryman.egress.leaks import escapes
from ferryman.egress.leaks.ordering import build_sort_key
from ferryman.egress.placeholders import list_request_placeholders, to_display_form

PIECE_MAX = 4_096
"""A single piece longer than this is not decoded by itself: it is where everything stands in order."""

PATH_MAX = 128
"""Of a path so many characters are kept: what is nested deep would take the square of its length. What stands deeper stays in
its order."""

PIECES_MAX = 65_536
"""A value is taken apart into so many pieces; one of more is treated as if it held a secret. Each takes a hundred times the one
character that it may have."""

_ROUNDS = 3
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f ]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+")
_CODED = re.compile(r"[A-Za-z0-9+/_-]+=*|[0-9A-Fa-f]{2}[0-9A-Fa-f ]+")
_SIGNS = re.compile(r"[%\\&+]")
_PRINTABLE = bytes(range(0x20, 0x7F))
_ADDRESS = re.compile(r"[A-Za-z]++://([^\s/?#]*+)\S*+")


class TextPiece(NamedTuple):
    """One text: `name` is the last key or header name above it, `path` says where it stands; a key is a piece of its own."""

    path: str
    name: str
    text: str
    key: bool = False

    def __repr__(self) -> str:
        return f"Piece(key={self.key})"  # nothing of it has been looked through


def collect_request_pieces(outbound: OutboundRequest) -> list[TextPiece]:
    """Return everything the model supplied, in order."""
    found = [TextPiece(field, field, str(text)) for field, text in _scalars(outbound)]
    found += _url(outbound.url, "url")
    headers, query, body = outbound.headers, outbound.query_params, outbound.body
    if list_request_placeholders(outbound):
        query, body = to_display_form(query), to_display_form(body)
    found += collect_pieces(headers, "headers")
    found += collect_pieces(to_display_form(outbound.fixed_headers), "headers")
    found += collect_pieces(query, "query_params")
    found += collect_pieces(body, "body")
    return found


def collect_pieces(value: Any, path: str) -> list[TextPiece]:
    """Return the keys and leaves of a JSON value in order, and no more than one or two beyond `PIECES_MAX`.

    Walks without recursion: hostile nesting cannot exhaust the stack.
    """
    found: list[TextPiece] = []
    if not isinstance(value, dict | list | tuple):
        value = (value,)
    open_ = [(path, path, isinstance(value, dict), _entries(value))]
    while open_ and len(found) <= PIECES_MAX:
        where, name, keyed, entries = open_[-1]
        for key, item in entries:
            if len(found) > PIECES_MAX:
                break
            if keyed:
                name = key if isinstance(key, str) else _text(key) or str(key)
                here = f"{where}.{name[:PATH_MAX]}"[:PATH_MAX]
                found.append(TextPiece(here, name, name, key=True))
            else:
                here = f"{where}.{key:06}"[:PATH_MAX]
            if isinstance(item, str):
                found.append(TextPiece(here, name, item))
            elif isinstance(item, dict | list | tuple):
                open_.append((here, name, isinstance(item, dict), _entries(item)))
                break
            elif (text := _text(item)) is not None:
                found.append(TextPiece(here, name, text))
        else:
            open_.pop()
    return found


def _entries(value: Any) -> Iterator[tuple[Any, Any]]:
    return iter(value.items() if isinstance(value, dict) else enumerate(value))


def split_urls(found: list[TextPiece]) -> list[TextPiece]:
    """Return `found` with every URL among the values taken apart: what is split over two of them stands in the same part of
    each."""
    apart: list[TextPiece] = []
    for piece in found:
        if len(apart) > PIECES_MAX:
            break
        address = None if piece.key else _ADDRESS.fullmatch(piece.text)
        if address is None:
            apart.append(piece)
            continue
        apart.append(TextPiece("url", piece.name, piece.text))
        apart += [
            TextPiece(f"{piece.path}.host.{index:06}", "host", label)
            for index, label in enumerate(address[1].split(".", PIECES_MAX))
        ]
        apart += _url(piece.text, piece.path)
    return apart


def join_pieces(found: list[TextPiece]) -> tuple[str, str]:
    """Return the texts worth decoding: everything in order, and the values alone, which joins what was split over fields."""
    return "\n".join(piece.text for piece in found), "".join(
        piece.text for piece in found if not piece.key and piece.path != "url"
    )


def group_by_kind(found: list[TextPiece]) -> str:
    """Return all keys, then all values: decoded as a whole it shows what is split over either, at half the price."""
    keys = [piece.text for piece in found if piece.key or piece.path == "url"]
    return "\n".join((*keys, *(piece.text for piece in found if not piece.key and piece.path != "url")))


def iterate_arrangements(found: list[TextPiece]) -> Iterator[str]:
    """Yield further ways to put the pieces together, for a look at their letters and digits only."""
    values = [piece for piece in found if not piece.key and piece.path != "url"]
    texts = [piece.text for piece in values]
    numbered, read = lru_cache(build_sort_key), lru_cache(decode_piece)
    in_order = [piece.text for piece in sorted(values, key=lambda piece: numbered(piece.name))]
    decoded = [*map(read, texts)]
    ways = (
        texts,
        [piece.text for piece in found if piece.key],
        texts[::-1],
        [piece.text for piece in sorted(values, key=itemgetter(0))],
        [piece.text for piece in sorted(values, key=itemgetter(1))],
        in_order,
        [text for text in texts if not text.isdecimal()],
        decoded,
        decoded[::-1],
        [*map(read, in_order)],
        *(
            [piece.text for piece in values if not piece.path.startswith(field)]
            for field in ("url.", "headers.", "query_params.")
        ),
    )
    yield from dict.fromkeys(map("".join, ways))


def _scalars(outbound: OutboundRequest) -> Iterator[tuple[str, str]]:
    yield "tool", outbound.tool
    yield "method", outbound.method
    if outbound.credential is not None:
        yield "credential", outbound.credential
    yield "url", outbound.url


def _url(url: str, where: str) -> Iterator[TextPiece]:
    """Yield the segments of the path and the values of the query, each a piece; the URL as a whole is one already."""
    rest, _, fragment = url.partition("#")
    rest, _, query = rest.partition("?")
    _, _, path = rest.partition("://")[2].partition("/")
    for index, segment in enumerate(path.split("/", PIECES_MAX)):
        yield TextPiece(f"{where}.path.{index:06}", "path", segment)
    for part in query.split("&", PIECES_MAX):
        name, _, value = part.partition("=")
        yield TextPiece(f"{where}.query.{name}", name, name, key=True)
        yield TextPiece(f"{where}.query.{name}", name, value)
    yield TextPiece(f"{where}.fragment", "fragment", fragment)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return None
    try:
        return str(value)
    except ValueError:
        return ""  # an integer too long to be written is too long to be sent


def decode_piece(text: str) -> str:
    """Return what a single piece stands for, if it is wholly written in one notation after another."""
    for _ in range(_ROUNDS):
        if not 4 <= len(text) <= PIECE_MAX or (text.isalpha() and text.islower()):
            break
        before = text
        if _SIGNS.search(text):
            text = escapes.undo_escapes(unquote(text))
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
