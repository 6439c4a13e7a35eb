"""URLs: one strict grammar on the raw string, used exactly as given, with no trimming and no repair."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

CHARACTERS_MAX = 2_048
HOST_CHARACTERS_MAX = 253
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})+", re.ASCII)
_NUMERIC = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*", re.ASCII)
_PRINTABLE = re.compile(r"[\x21-\x5b\x5d-\x7e]+", re.ASCII)
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class URL:
    """A URL that passed the grammar. `host` is lower case; `path` starts with a slash; `query` has no question mark."""

    host: str
    path: str
    query: str | None = field(repr=False)

    @property
    def target(self) -> str:
        """What stands in the request line: path and query, never a fragment."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    def __str__(self) -> str:
        return f"https://{self.host}{self.target}"


class Malformed(ValueError):  # noqa: N818 - reads as the fact it states
    """The string is not a URL that may be called. Its text never contains any of the input."""


def host(text: str) -> str:
    """`text` as a canonical (lower-case) DNS name of at least two LDH labels, or `Malformed`."""
    if len(text) > HOST_CHARACTERS_MAX or not _HOST.fullmatch(text):
        raise Malformed("the host is not a plain DNS name")
    if _NUMERIC.fullmatch(text.rpartition(".")[2]):
        raise Malformed("the host is an IP address or looks like one")
    return text.lower()


def parse(raw: str) -> URL:
    """`raw` as a `URL`, or `Malformed` with the rule that refused it. https and port 443 only; a fragment is dropped."""
    if len(raw) > CHARACTERS_MAX:
        raise Malformed(f"the URL is longer than {CHARACTERS_MAX} characters")
    if not _PRINTABLE.fullmatch(raw):
        raise Malformed("the URL has a character outside printable ASCII, a space or a backslash")
    match = _URL.fullmatch(raw)
    if match is None or match["scheme"].lower() != "https":
        raise NotHTTPS("only https:// URLs are allowed")
    authority = match["authority"]
    if "@" in authority:
        raise Malformed("the URL has user information before its host")
    name, colon, port = authority.partition(":")
    if colon and port != "443":
        raise Malformed("the port is not 443")
    query = match["query"]
    return URL(host=host(name), path=match["path"] or "/", query=None if query is None else query[1:])


class NotHTTPS(Malformed):
    """The scheme is missing or is not https (S0-75)."""
