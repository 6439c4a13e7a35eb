"""Servers: where an operation is, and whether a task may go there. Importing approves nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import quote, urljoin

from ferryman.domain.http import url
from ferryman.domain.http.host import is_covered
from ferryman.openapi.notes import Notes, UnsupportedOperationError
from ferryman.openapi.references import Node
from ferryman.openapi.values import items, mapping, text

SERVERS_READ_MAX = 20
_SHOWN_MAX = 5
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_NOT_PUBLIC = ("local", "localhost", "internal", "localdomain", "home.arpa", "invalid", "onion")
_SAFE = "/:@!$&'()*+,;=%~-._?"


def address(listed: list[Node], document: str, domains: Collection[str], notes: Notes) -> tuple[str, str | None]:
    """The first of an operation's servers that is approved, as `https://host/base` without a slash at its end, and None;
    those written with http go last.

    Where there is none: the first that is a URL at all, or "", and the reason why it is not called. `listed` are lists of
    servers, the nearest first: the first that lists any holds. `document` is the absolute URI that relative ones start from,
    `domains` are the approved hosts.
    """
    base, reason = "", None
    for raw in sorted(_written(listed), key=lambda each: each.lower().startswith("http:")):
        try:
            found, plain = _resolved(raw, document)
            base = base or _base(found)
            _approve(found.host, domains)
        except UnsupportedOperationError as unfit:
            reason = reason or str(unfit)
            continue
        if plain:
            notes.add("its server says http: it is called by https")
        if reason is not None:
            notes.add("its first server is not approved: a later one, which is, is taken")
        return _base(found), None
    return base, reason or "has no server"


def _base(found: url.URL) -> str:
    return str(found).partition("?")[0].rstrip("/")


def _written(listed: list[Node]) -> Iterator[str]:
    chosen: list[object] = next((each.value for each in listed if isinstance(each.value, list) and each.value), [{"url": "/"}])
    for each in items(chosen, SERVERS_READ_MAX):
        raw = mapping(each).get("url")
        if isinstance(raw, str):
            yield _filled(raw[: url.CHARACTERS_MAX + 1], mapping(mapping(each).get("variables")))


def _filled(raw: str, variables: Mapping[str, object]) -> str:
    return _VARIABLE.sub(lambda found: _default(variables.get(found[1]), found[0]), raw)


def _default(variable: object, otherwise: str) -> str:
    # YAML writes a port or a version without quotes.
    said = mapping(variable).get("default")
    return str(said) if isinstance(said, str | float) or (isinstance(said, int) and abs(said) < 2**31) else otherwise


def _resolved(raw: str, document: str) -> tuple[url.URL, bool]:
    # The server by https, and whether it was written with http.
    try:
        whole = urljoin(document, raw.strip())
    except ValueError:
        whole = None
    # urljoin drops line breaks and tabs, by which one URL reads as another.
    if whole is None or not raw.isprintable():
        raise UnsupportedOperationError("has a server that is no URL")
    if whole.startswith("//"):
        whole = f"https:{whole}"
    scheme, colon, rest = whole.partition("://")
    if not colon or scheme.lower() not in ("http", "https"):
        raise UnsupportedOperationError(
            f"has no absolute server: {text(raw, 80)!r} says no host, and the document is not from the network"
        )
    plain = scheme.lower() == "http"
    if plain:
        authority, slash, path = rest.partition("/")
        rest = authority.removesuffix(":80") + slash + path
    try:
        return url.parse_url(f"https://{rest}"), plain
    except url.InvalidUrlError as error:
        raise UnsupportedOperationError(f"its server {text(raw, 80)!r} is not called: {error}") from None


def _approve(host: str, domains: Collection[str]) -> None:
    if host.endswith(tuple(f".{each}" for each in _NOT_PUBLIC)):
        raise UnsupportedOperationError(f"its server {host} is not on the public internet")
    if not is_covered(domains, host):
        shown = sorted(domains)[:_SHOWN_MAX] + (["…"] if len(domains) > _SHOWN_MAX else [])
        raise UnsupportedOperationError(f"{host} is not approved for this task; approved: {', '.join(shown) or 'none'}")


def path(written: str) -> str:
    """A document's path as it stands in a URL: begins with a slash, and what no URL has is percent-encoded."""
    said = written.partition("#")[0]
    pieces = re.split(r"(\{[^{}]*\})", said if said.startswith("/") else f"/{said}")
    return "".join(each if each.startswith("{") else quote(each, safe=_SAFE, errors="replace") for each in pieces)
