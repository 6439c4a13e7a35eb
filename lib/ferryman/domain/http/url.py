"""URLs: one strict grammar on the raw string, without trimming or repair (prevents SSRF by parser differences)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

CHARACTERS_MAX = 2_048
PORTS = {"https": 443, "http": 80}
HOST_CHARACTERS_MAX = 253
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})+", re.ASCII)
_NUMERIC = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*", re.ASCII)
_PRINTABLE = re.compile(r"[\x21-\x5b\x5d-\x7e]+", re.ASCII)
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class URL:
    """A URL that passed the grammar. `host` is lower case; `path` starts with a slash; `query` has no question mark.

    `scheme` is https, and for pages of the public web also http.
    """

    host: str
    path: str
    query: str | None = field(repr=False)
    scheme: str = "https"

    @property
    def port(self) -> int:
        """The one port of its scheme."""
        return PORTS[self.scheme]

    @property
    def target(self) -> str:
        """The request target: path and query, never a fragment."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}{self.target}"


class InvalidUrlError(ValueError):
    """The string is not a URL that may be called. Its text never contains any of the input."""


def parse_host(text: str) -> str:
    """Return `text` as a canonical (lower-case) DNS name of at least two LDH labels. Raise `InvalidUrlError`."""
    if len(text) > HOST_CHARACTERS_MAX or not _HOST.fullmatch(text):
        raise InvalidUrlError("the host is not a plain DNS name")
    if _NUMERIC.fullmatch(text.rpartition(".")[2]):
        raise InvalidUrlError("the host is an IP address or looks like one")
    return text.lower()


def parse_url(raw: str) -> URL:
    """Return `raw` as a `URL`: https and port 443 only; a fragment is dropped. Raise `InvalidUrlError` with the broken rule."""
    return _parse(raw, ("https",))


def parse_page_url(raw: str) -> URL:
    """Return `raw` as the `URL` of a page (S4-36): https and port 443, or http and port 80. Raise `InvalidUrlError`."""
    return _parse(raw, ("https", "http"))


def _parse(raw: str, schemes: tuple[str, ...]) -> URL:
    if len(raw) > CHARACTERS_MAX:
        raise InvalidUrlError(f"the URL is longer than {CHARACTERS_MAX} characters")
    if not _PRINTABLE.fullmatch(raw):
        raise InvalidUrlError("the URL has a character outside printable ASCII, a space or a backslash")
    match = _URL.fullmatch(raw)
    if match is None or (scheme := match["scheme"].lower()) not in schemes:
        raise NotHttpsError(f"only {' and '.join(f'{name}://' for name in schemes)} URLs are allowed")
    authority = match["authority"]
    if "@" in authority:
        raise InvalidUrlError("the URL has user information before its host")
    name, colon, port = authority.partition(":")
    if colon and port != str(PORTS[scheme]):
        raise InvalidUrlError(f"the port is not {PORTS[scheme]}")
    query = match["query"]
    return URL(host=parse_host(name), path=match["path"] or "/", query=None if query is None else query[1:], scheme=scheme)


class NotHttpsError(InvalidUrlError):
    """The scheme is missing, or is none of those that are allowed (S0-75)."""
