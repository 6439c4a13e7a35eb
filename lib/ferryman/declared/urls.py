"""Path traversal protection: the placeholders of a declared URL, and its path filled with values (S1-7 … S1-14)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Union
from urllib.parse import quote, unquote, unquote_plus

from ferryman.domain.http import url
from ferryman.domain.http.url import InvalidUrlError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_BRACED = re.compile(r"\{([^{}]*)\}")
_QUERY_START = re.compile(r"\{[^{}]*\}|\?")
_NAMES_OF_QUERY = re.compile(r"\{\?([^{}]*)\}(?=&|\{\?|\Z)")
_BASE = re.compile(r"([^/]*//[^/]*)(.*)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SLASH = re.compile(r"[/\\]")
_UNQUOTINGS = 8


class InvalidUrlTemplateError(ValueError):
    """The value of `name` may not be inserted into the path; `expected` says what may."""

    def __init__(self, name: str, expected: str) -> None:
        self.name, self.expected = name, expected
        super().__init__(f"{name}: {expected}")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`{name}`, or `{name?}` where `optional`."""

    name: str
    optional: bool = False


Piece = Union[str, Placeholder]  # noqa: UP007 - a value, not an annotation
Pieces = tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One pair of the query that has a placeholder: its name is decoded, and so is the text around the placeholders."""

    name: str
    value: Pieces

    @property
    def only_placeholder(self) -> Placeholder | None:
        """The placeholder that is all of the value."""
        return self.value[0] if len(self.value) == 1 and isinstance(self.value[0], Placeholder) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A parsed URL: `base` is scheme and authority, `segments` are those of the path, `fixed` the query's pairs as written."""

    base: str
    host: str
    segments: tuple[Pieces, ...]
    fixed: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def path_names(self) -> Iterator[str]:
        """Yield the names of the placeholders in the path."""
        return (piece.name for segment in self.segments for piece in segment if isinstance(piece, Placeholder))

    def query_placeholders(self) -> Iterator[Placeholder]:
        """Yield the placeholders in the query."""
        return (piece for pair in self.pairs for piece in pair.value if isinstance(piece, Placeholder))

    def query_names(self) -> Iterator[str]:
        """Yield the names of the query's pairs, decoded, as often as the query has each."""
        yield from (unquote_plus(pair.partition("=")[0]) for pair in self.fixed)
        yield from (pair.name for pair in self.pairs)


def parse(text: str) -> Address:
    """Return `text` as an `Address`. Raise `InvalidUrlError` with the rule that it breaks."""
    if len(text) > url.CHARACTERS_MAX:
        raise InvalidUrlError(f"must be at most {url.CHARACTERS_MAX} characters, is {len(text)}")
    if "{{" in text:
        raise InvalidUrlError("has a {{…}}: a URL has {name}, and `params` says what a name is pinned to")
    whole, _, fragment = text.partition("#")
    if "{" in fragment or "}" in fragment:
        raise InvalidUrlError("has a placeholder after '#', which is never sent")
    starts = (match.start() for match in _QUERY_START.finditer(whole) if match[0] == "?" or match[0][1] == "?")
    start = next(starts, len(whole))
    match = _BASE.fullmatch(whole[:start])
    base, path = (match[1], match[2]) if match else (whole[:start], "")
    if "{" in base or "}" in base:
        raise InvalidUrlError("has a placeholder before its path: scheme, host and port must be written out")
    segments = tuple(_split_pieces(segment) for segment in path.split("/")[1:])
    for segment in segments:
        if any(isinstance(piece, Placeholder) and piece.optional for piece in segment):
            raise InvalidUrlError("has an optional placeholder in its path: {name?} is for the query")
        if _climbs(_fill_sample(segment)):
            raise InvalidUrlError("has '.' or '..' as a part of its path")
    fixed, pairs = _parse_query(whole[start:])
    sample = "/".join((base, *map(_fill_sample, segments)))
    host = url.parse_url("?".join((sample, "&".join(fixed))) if fixed else sample).host
    return Address(base=base, host=host, segments=segments, fixed=fixed, pairs=pairs)


def _fill_sample(segment: Pieces) -> str:
    return "".join("x" if isinstance(piece, Placeholder) else piece for piece in segment)


def fill_path(address: Address, values: Mapping[str, Sequence[str]]) -> str:
    """Return the URL with its path filled, and with what is fixed of its query.

    Several texts for one name are joined by a comma; each is percent-encoded with nothing safe. Raise
    `InvalidUrlTemplateError` for one that would change the shape of the path, encoded or not.
    """
    parts = [address.base]
    for segment in address.segments:
        part = "".join(piece if isinstance(piece, str) else _encode(piece.name, values[piece.name]) for piece in segment)
        name = next((piece.name for piece in segment if isinstance(piece, Placeholder)), None)
        if name is not None and _climbs(part):
            raise InvalidUrlTemplateError(name, _EXPECTED)
        parts.append("/" + part)
    return "".join(parts) + ("?" + "&".join(address.fixed) if address.fixed else "")


_EXPECTED = "a text for one part of a path: not empty, not '.' or '..', without control characters"


def _encode(name: str, values: Sequence[str]) -> str:
    if not values or any(not value or _CONTROL.search(_decode(value)) or _climbs(value) for value in values):
        raise InvalidUrlTemplateError(name, _EXPECTED)
    return ",".join(quote(value, safe="") for value in values)


def _climbs(text: str) -> bool:
    # Some servers decode twice, some take a backslash or an encoded slash for a slash, some cut at a semicolon, and some take
    # what only looks like a dot for one.
    plain = unicodedata.normalize("NFKC", _decode(text))
    return any(part.partition(";")[0] in (".", "..") for part in _SLASH.split(plain))


def _decode(text: str) -> str:
    for _ in range(_UNQUOTINGS):
        text, before = unquote(text), text
        if text == before:
            break
    return text


def _parse_query(text: str) -> tuple[tuple[str, ...], tuple[Pair, ...]]:
    text = _NAMES_OF_QUERY.sub(lambda match: "".join(f"&{name}={{{name}}}" for name in match[1].split("&")), text)
    if "{?" in text:
        raise InvalidUrlError("has a {?name} that is not at the end, nor followed by '&'")
    fixed, pairs = [], []
    for pair in text.removeprefix("?").split("&"):
        name, _, value = pair.partition("=")
        if "{" in name or "}" in name:
            raise InvalidUrlError("has a placeholder for the name of a query parameter: write name={placeholder} or {?name}")
        pieces = _split_pieces(value)
        if any(isinstance(piece, Placeholder) for piece in pieces):
            decoded = tuple(_decode_query(piece) if isinstance(piece, str) else piece for piece in pieces)
            pairs.append(Pair(name=_decode_query(name), value=decoded))
        elif pair:
            fixed.append(pair)
    return tuple(fixed), tuple(pairs)


def _decode_query(text: str) -> str:
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        raise InvalidUrlError("has bytes in its query that are not UTF-8") from None


def _split_pieces(text: str) -> Pieces:
    pieces: list[Piece] = []
    for index, part in enumerate(_BRACED.split(text)):
        if index % 2 == 0:
            if "{" in part or "}" in part:
                raise InvalidUrlError("has a brace without its other half")
            if part:
                pieces.append(part)
        elif _NAME.fullmatch(name := part.removesuffix("?")):
            pieces.append(Placeholder(name, optional=part.endswith("?")))
        else:
            raise InvalidUrlError("has a placeholder that is none of {name}, {name?}, {?name} and {?name&name}")
    return tuple(pieces)
