"""Text pieces: everything of a request that the model wrote, and the orders in which a receiver may join the pieces."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple
from urllib.parse import unquote

from ferryman.domain.http.request import BodyType, OutboundRequest
from ferryman.egress.inject import list_request_placeholders, to_display_form
from ferryman.framing import escapes

UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
ORDER = {word: value for value, word in enumerate(UNITS)} | {word: value for value, word in enumerate(_ORDINALS, start=1)}
"""The number of a word in the name of a part."""

NAME_MAX = 256
_PART = re.compile(r"[a-z]+|[0-9]{1,9}")


def build_sort_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key to sort names of fields by, as people number them: part2 before part10, second after first."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (0, ORDER[part], "") if part in ORDER else (1, 0, part)
        for part in _PART.findall(name[:NAME_MAX].lower())
    )


PIECE_MAX = 4_096  # a longer piece is not decoded by itself, only as a part of all pieces in order
PATH_MAX = 128
"""Characters of a path that are kept: deep nesting would take the square of its length. Deeper pieces stay in their order."""

PIECES_MAX = 65_536
"""A value of more pieces is treated as if it held a secret: each takes a hundred times the memory of its one character."""

_FIELDS = ("url.", "headers.", "query_params.")
"""What the paths of a request's values begin with that a receiver may leave out."""

_ROUNDS = 3
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f ]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+")
_CODED = re.compile(r"[A-Za-z0-9+/_-]+=*|[0-9A-Fa-f]{2}[0-9A-Fa-f ]+")
_LEADING = frozenset("IJKLMNOPQRSTUVWXYZabcdef234567")
"""What base64 or hexadecimal digits begin with that are printable characters: the first bits are those of 0x20 to 0x7f."""

_SIGNS = re.compile(r"[%\\&+]")
_PRINTABLE = bytes(range(0x20, 0x7F))
_ADDRESS = re.compile(r"[A-Za-z]++://([^\s/?#]*+)\S*+")


class TextPiece(NamedTuple):
    """One text: `name` is the last key or header name above it, `path` its place; a key is a piece of its own."""

    path: str
    name: str
    text: str
    key: bool = False

    def __repr__(self) -> str:
        return f"Piece(key={self.key})"  # its text has not been scanned


# a call of the class takes three times as long, and a long text has thousands of pieces
_new_piece: Callable[[tuple[str, str, str, bool]], TextPiece] = partial(tuple.__new__, TextPiece)


def collect_request_pieces(outbound: OutboundRequest) -> list[TextPiece]:
    """Return everything that the model supplied, in order."""
    texts = {field: getattr(outbound, field) for field in ("tool", "method", "credential", "url")}
    pieces = [TextPiece(field, field, str(text)) for field, text in texts.items() if text is not None]
    pieces += _split_url(outbound.url, "url")
    headers, query, body = outbound.headers, outbound.query_params, outbound.body
    if list_request_placeholders(outbound):
        query, body = to_display_form(query), to_display_form(body)
    pieces += collect_pieces(headers, "headers")
    pieces += collect_pieces(to_display_form(outbound.fixed_headers), "headers")
    pieces += collect_pieces(query, "query_params")
    if outbound.body_type is BodyType.MULTIPART and body is not None:
        body = _arrange_parts(body)
    pieces += collect_pieces(body, "body")
    return pieces


def _arrange_parts(body: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Any]:
    """Return the contents of a multipart body by name, then what its parts are called: a secret may be split over either."""
    contents = {name: [part.get("content") for part in parts] for name, parts in body.items()}
    parts = [part for parts in body.values() for part in parts]
    return [contents, *([part[field] for part in parts if field in part] for field in ("filename", "content_type"))]


def collect_pieces(value: Any, path: str) -> list[TextPiece]:
    """Return the keys and leaves of a JSON value in order, at most one or two more than `PIECES_MAX`.

    Without recursion: hostile nesting cannot exhaust the stack.
    """
    pieces: list[TextPiece] = []
    if not isinstance(value, dict | list | tuple):
        value = (value,)
    open_ = [(path, path, isinstance(value, dict), _entries(value))]
    while open_ and len(pieces) <= PIECES_MAX:
        where, name, keyed, entries = open_[-1]
        for key, item in entries:
            if len(pieces) > PIECES_MAX:
                break
            if keyed:
                name = key if isinstance(key, str) else _text(key) or str(key)
                here = f"{where}.{name[:PATH_MAX]}"[:PATH_MAX]
                pieces.append(_new_piece((here, name, name, True)))
            else:
                here = f"{where}.{key:06}"[:PATH_MAX]
            if isinstance(item, str):
                pieces.append(_new_piece((here, name, item, False)))
            elif isinstance(item, dict | list | tuple):
                open_.append((here, name, isinstance(item, dict), _entries(item)))
                break
            elif (text := _text(item)) is not None:
                pieces.append(_new_piece((here, name, text, False)))
        else:
            open_.pop()
    return pieces


def _entries(value: Any) -> Iterator[tuple[Any, Any]]:
    return iter(value.items() if isinstance(value, dict) else enumerate(value))


def split_urls(pieces: list[TextPiece]) -> list[TextPiece]:
    """Return `pieces` with every URL among the values split: a secret may be split over the same part of several URLs."""
    parts: list[TextPiece] = []
    for piece in pieces:
        if len(parts) > PIECES_MAX:
            break
        address = None if piece.key or "://" not in piece.text else _ADDRESS.fullmatch(piece.text)
        if address is None:
            parts.append(piece)
            continue
        parts.append(TextPiece("url", piece.name, piece.text))
        parts += [
            TextPiece(f"{piece.path}.host.{index:06}", "host", label)
            for index, label in enumerate(address[1].split(".", PIECES_MAX))
        ]
        parts += _split_url(piece.text, piece.path)
    return parts


def join_pieces(pieces: list[TextPiece]) -> tuple[str, str]:
    """Return the two texts to decode: all pieces in order, and the values alone, for a secret split over several fields."""
    return "\n".join([piece.text for piece in pieces]), "".join([piece.text for piece in _select_values(pieces)])


def group_by_kind(pieces: list[TextPiece]) -> str:
    """Return all keys, then all values, as one text: it shows a secret split over either, at half the cost."""
    keys = [piece.text for piece in pieces if piece.key or piece.path == "url"]
    return "\n".join([*keys, *(piece.text for piece in _select_values(pieces))])


def _select_values(pieces: list[TextPiece]) -> list[TextPiece]:
    return [piece for piece in pieces if not piece.key and piece.path != "url"]


def iterate_arrangements(pieces: list[TextPiece]) -> Iterator[str]:
    """Yield further orders of the joined pieces, whose letters and digits alone are scanned."""
    values = _select_values(pieces)
    texts = [piece.text for piece in values]
    keys = {name: build_sort_key(name) for name in {piece.name for piece in values}}
    in_order = [piece.text for piece in sorted(values, key=lambda piece: keys[piece.name])]
    decoded = {text: decode_piece(text) for text in set(texts)}
    plain = [decoded[text] for text in texts]
    arrangements = [
        texts,
        [piece.text for piece in pieces if piece.key],
        texts[::-1],
        [piece.text for piece in sorted(values, key=itemgetter(0))],
        [piece.text for piece in sorted(values, key=itemgetter(1))],
        in_order,
        [text for text in texts if not text.isdecimal()],
        plain,
        plain[::-1],
        [decoded[text] for text in in_order],
    ]
    if any(piece.path.startswith(_FIELDS) for piece in values):
        arrangements += [[piece.text for piece in values if not piece.path.startswith(field)] for field in _FIELDS]
    yield from dict.fromkeys(map("".join, arrangements))


def _split_url(url: str, where: str) -> Iterator[TextPiece]:
    """Yield the segments of the path and the names and values of the query, each as a piece."""
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
        return ""  # an integer too long for `str` is too long to be sent


def decode_piece(text: str) -> str:
    """Return the decoded form of a single piece that is wholly written in one notation, or in several nested ones."""
    for _ in range(_ROUNDS):
        if not 4 <= len(text) <= PIECE_MAX or (text.isalpha() and text.islower()):
            break
        before = text
        if _SIGNS.search(text):
            text = escapes.undo_escapes(unquote(text))
        elif text[0] not in _LEADING:
            break
        if _CODED.fullmatch(text):
            text = _decode_hexadecimal(text) or _decode_base64(text) or text
        if text == before:
            break
    return text


def _decode_hexadecimal(text: str) -> str:
    try:
        return _decode_printable(bytes.fromhex(text) if _HEXADECIMAL.fullmatch(text) else b"")
    except ValueError:
        return ""


def _decode_base64(text: str) -> str:
    compact = text.replace("-", "+").replace("_", "/").rstrip("=")
    if len(compact) % 4 == 1 or not _BASE64.fullmatch(compact):
        return ""
    return _decode_printable(binascii.a2b_base64(compact + "=" * (-len(compact) % 4)))


def _decode_printable(content: bytes) -> str:
    return "" if content.translate(None, _PRINTABLE) else content.decode("ascii")
