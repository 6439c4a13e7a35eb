"""URLs: the placeholders of a declared URL, and its path written so that no value changes the path's shape (S1-7 … S1-14)."""

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
_START = re.compile(r"\{[^{}]*\}|\?")
_SEVERAL = re.compile(r"\{\?([^{}]*)\}(?=&|\{\?|\Z)")
_BASE = re.compile(r"([^/]*//[^/]*)(.*)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SLASH = re.compile(r"[/\\]")
_UNQUOTINGS = 8


class InvalidUrlTemplateError(ValueError):
    """The value of `name` may not stand where it is asked for; `expected` says what may."""

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
    """One pair of the query that has a placeholder: the name decoded, and so is the text around the placeholders."""

    name: str
    value: Pieces

    @property
    def whole(self) -> Placeholder | None:
        """The placeholder that the value is nothing but."""
        return self.value[0] if len(self.value) == 1 and isinstance(self.value[0], Placeholder) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A declared URL, read: `base` is scheme and authority, `segments` the path's, `fixed` the query's pairs as written."""

    base: str
    host: str
    segments: tuple[Pieces, ...]
    fixed: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def in_path(self) -> Iterator[str]:
        return (piece.name for segment in self.segments for piece in segment if isinstance(piece, Placeholder))

    def in_query(self) -> Iterator[Placeholder]:
        return (piece for pair in self.pairs for piece in pair.value if isinstance(piece, Placeholder))

    def query_names(self) -> Iterator[str]:
        """The names that its query has, decoded; one that stands several times comes several times."""
        yield from (unquote_plus(each.partition("=")[0]) for each in self.fixed)
        yield from (pair.name for pair in self.pairs)


def parse(text: str) -> Address:
    """`text` as an `Address`, or `InvalidUrlTemplateError` with the rule that refused it."""
    if len(text) > url.CHARACTERS_MAX:
        raise InvalidUrlError(f"must be at most {url.CHARACTERS_MAX} characters, is {len(text)}")
    if "{{" in text:
        raise InvalidUrlError("has a {{…}}: a URL has {name}, and `params` says what a name is pinned to")
    said, _, fragment = text.partition("#")
    if "{" in fragment or "}" in fragment:
        raise InvalidUrlError("has a placeholder after '#', which is never sent")
    start = next((match.start() for match in _START.finditer(said) if match[0] == "?" or match[0][1] == "?"), len(said))
    match = _BASE.fullmatch(said[:start])
    base, path = (match[1], match[2]) if match else (said[:start], "")
    if "{" in base or "}" in base:
        raise InvalidUrlError("has a placeholder before its path: scheme, host and port must be written out")
    segments = tuple(_pieces(segment) for segment in path.split("/")[1:])
    for segment in segments:
        if any(isinstance(piece, Placeholder) and piece.optional for piece in segment):
            raise InvalidUrlError("has an optional placeholder in its path: {name?} is for the query")
        if all(isinstance(piece, str) for piece in segment) and _climbs("".join(map(str, segment))):
            raise InvalidUrlError("has '.' or '..' as a part of its path")
    fixed, pairs = _query(said[start:])
    shown = ("".join("x" if isinstance(piece, Placeholder) else piece for piece in segment) for segment in segments)
    plain = "/".join((base, *shown))
    host = url.parse_url("?".join((plain, "&".join(fixed))) if fixed else plain).host
    return Address(base=base, host=host, segments=segments, fixed=fixed, pairs=pairs)


def written(address: Address, values: Mapping[str, Sequence[str]]) -> str:
    """The URL with its path filled, and with what is fixed of its query.

    Several texts for one name are joined by a comma; each is percent-encoded with nothing safe. Raises
    `InvalidUrlTemplateError` for one that would change the path's shape, be it encoded or not.
    """
    parts = [address.base]
    for segment in address.segments:
        said = "".join(piece if isinstance(piece, str) else _encoded(piece.name, values[piece.name]) for piece in segment)
        name = next((piece.name for piece in segment if isinstance(piece, Placeholder)), None)
        if name is not None and _climbs(said):
            raise InvalidUrlTemplateError(name, _FITS)
        parts.append("/" + said)
    return "".join(parts) + ("?" + "&".join(address.fixed) if address.fixed else "")


_FITS = "a text for one part of a path: not empty, not '.' or '..', without control characters"


def _encoded(name: str, values: Sequence[str]) -> str:
    if not values or any(not value or _CONTROL.search(_decoded(value)) or _climbs(value) for value in values):
        raise InvalidUrlTemplateError(name, _FITS)
    return ",".join(quote(value, safe="") for value in values)


def _climbs(text: str) -> bool:
    # Some servers decode twice, some take a backslash or an encoded slash for a slash, some cut at a semicolon, and some take
    # what only looks like a dot for one.
    plain = unicodedata.normalize("NFKC", _decoded(text))
    return any(part.partition(";")[0] in (".", "..") for part in _SLASH.split(plain))


def _decoded(text: str) -> str:
    for _ in range(_UNQUOTINGS):
        text, before = unquote(text), text
        if text == before:
            break
    return text


def _query(text: str) -> tuple[tuple[str, ...], tuple[Pair, ...]]:
    text = _SEVERAL.sub(lambda match: "".join(f"&{name}={{{name}}}" for name in match[1].split("&")), text)
    if "{?" in text:
        raise InvalidUrlError("has a {?name} that is not at the end, nor followed by '&'")
    fixed, pairs = [], []
    for each in text.removeprefix("?").split("&"):
        name, equals, value = each.partition("=")
        if "{" in name or "}" in name:
            raise InvalidUrlError("has a placeholder for the name of a query parameter: write name={placeholder} or {?name}")
        pieces = _pieces(value)
        if any(isinstance(piece, Placeholder) for piece in pieces):
            pairs.append(Pair(name=_plain(name), value=tuple(_plain(p) if isinstance(p, str) else p for p in pieces)))
        elif each:
            fixed.append(name + equals + value)
    return tuple(fixed), tuple(pairs)


def _plain(text: str) -> str:
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        raise InvalidUrlError("has bytes in its query that are not UTF-8") from None


def _pieces(text: str) -> Pieces:
    found: list[Piece] = []
    for index, each in enumerate(_BRACED.split(text)):
        if index % 2 == 0:
            if "{" in each or "}" in each:
                raise InvalidUrlError("has a brace without its other half")
            if each:
                found.append(each)
        elif _NAME.fullmatch(name := each.removesuffix("?")):
            found.append(Placeholder(name, optional=each.endswith("?")))
        else:
            raise InvalidUrlError("has a placeholder that is none of {name}, {name?}, {?name} and {?name&name}")
    return tuple(found)
