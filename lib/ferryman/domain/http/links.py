"""Links of a page: absolute, http and https alone, in printable ASCII, so that what is read can be called byte by byte."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin, urlsplit

CHARACTERS_MAX = 2_048
HOST_CHARACTERS_MAX = 253
_STRIPPED = re.compile(r"[\t\n\r]")
_EDGE = "".join(map(chr, range(0x21)))
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WHOLE = re.compile(r"https?://[^/?#]", re.IGNORECASE)
# What a URL may have, without what ends it in Markdown.
_SAFE = "!#$%&'*+,-./:;=?@_~[]"
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]", re.ASCII)


def resolve(base: str, href: str) -> str | None:
    """Return the address that `href` means on a page at `base`; None where it is not one of the web, or of the page itself."""
    href = _STRIPPED.sub("", href.strip(_EDGE))
    if not href or href.startswith("#") or len(href) > CHARACTERS_MAX:
        return None
    href = href.replace("\\", "/")
    if _SCHEME.match(href) and not _WHOLE.match(href):
        return None
    try:
        whole = urljoin(base, href)
        parts = urlsplit(whole)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or "@" in parts.netloc:
        return None
    if not host.isascii():
        host = _encode_host(host)
    if ":" in host:
        host = f"[{host}]"
    if not _HOST.fullmatch(host):
        return None
    rest = whole.partition("//")[2]
    rest = rest[len(parts.netloc) :]
    url = f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{quote(rest, safe=_SAFE, errors='replace')}"
    return url if len(url) <= CHARACTERS_MAX else None


def _encode_host(host: str) -> str:
    if len(host) > HOST_CHARACTERS_MAX:
        return ""
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
