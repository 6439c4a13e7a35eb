"""Servers: the host of an operation, and whether a task may call it. Importing approves nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import quote, urljoin

from ferryman.domain.http import url
from ferryman.domain.http.host import is_covered
from ferryman.openapi.context import ImportContext
from ferryman.openapi.references import Node
from ferryman.openapi.values import UnsupportedOperationError, to_line, to_mapping

SERVERS_READ_MAX = 20
_DOMAINS_SHOWN_MAX = 5
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_NOT_PUBLIC = ("local", "localhost", "internal", "localdomain", "home.arpa", "invalid", "onion")
_SAFE = "/:@!$&'()*+,;=%~-._?"


def choose_server(context: ImportContext, lists: list[Node]) -> tuple[str, str | None]:
    """Return the first of an operation's servers that is approved, as `https://host/base` without a slash at its end, and
    None; those written with http are last.

    Where there is none: the first that is a URL at all, or "", and the reason why it is not called. `lists` are lists of
    servers, the nearest first: the first that is not empty applies.
    """
    base, reason = "", None
    for server in sorted(_list_servers(lists), key=lambda server: server.lower().startswith("http:")):
        try:
            resolved, is_http = _resolve(server, context.root.uri)
            base = base or _write_base(resolved)
            _approve(resolved.host, context.source.domains)
        except UnsupportedOperationError as error:
            reason = reason or str(error)
            continue
        if is_http:
            context.notes.add("its server is an http URL: it is called by https")
        if reason is not None:
            context.notes.add("its first server is not approved: a later one, which is, is used")
        return _write_base(resolved), None
    return base, reason or "has no server"


def _write_base(server: url.URL) -> str:
    return str(server).partition("?")[0].rstrip("/")


def _list_servers(lists: list[Node]) -> Iterator[str]:
    default = Node([{"url": "/"}], "")
    servers = next((nodes for nodes in lists if isinstance(nodes.value, list) and nodes.value), default)
    for server in servers.items(SERVERS_READ_MAX):
        text = server.fields.get("url")
        if isinstance(text, str):
            yield _fill_variables(text[: url.CHARACTERS_MAX + 1], server.child("variables").fields)


def _fill_variables(server: str, variables: Mapping[str, object]) -> str:
    def fill(match: re.Match[str]) -> str:
        default = to_mapping(variables.get(match[1])).get("default")
        # YAML writes a port or a version without quotes.
        is_text = isinstance(default, str | float) or (isinstance(default, int) and abs(default) < 2**31)
        return str(default) if is_text else match[0]

    return _VARIABLE.sub(fill, server)


def _resolve(server: str, document: str) -> tuple[url.URL, bool]:
    """Return the server by https, and whether it was written with http."""
    try:
        absolute = urljoin(document, server.strip())
    except ValueError:
        absolute = None
    # urljoin drops line breaks and tabs, so that one URL would be read as another.
    if absolute is None or not server.isprintable():
        raise UnsupportedOperationError("has a server that is not a URL")
    if absolute.startswith("//"):
        absolute = f"https:{absolute}"
    scheme, colon, rest = absolute.partition("://")
    if not colon or scheme.lower() not in ("http", "https"):
        raise UnsupportedOperationError(
            f"has no absolute server: {to_line(server, 80)!r} has no host, and the document is not from the network"
        )
    is_http = scheme.lower() == "http"
    if is_http:
        authority, slash, path = rest.partition("/")
        rest = authority.removesuffix(":80") + slash + path
    try:
        return url.parse_url(f"https://{rest}"), is_http
    except url.InvalidUrlError as error:
        raise UnsupportedOperationError(f"its server {to_line(server, 80)!r} is not called: {error}") from None


def _approve(host: str, domains: Collection[str]) -> None:
    if host.endswith(tuple(f".{suffix}" for suffix in _NOT_PUBLIC)):
        raise UnsupportedOperationError(f"its server {host} is not on the public internet")
    if not is_covered(domains, host):
        approved = sorted(domains)[:_DOMAINS_SHOWN_MAX] + (["…"] if len(domains) > _DOMAINS_SHOWN_MAX else [])
        raise UnsupportedOperationError(f"{host} is not approved for this task; approved: {', '.join(approved) or 'none'}")


def quote_path(path: str) -> str:
    """Return a document's path as a URL has it: it begins with a slash, and what no URL has is percent-encoded."""
    plain = path.partition("#")[0]
    pieces = re.split(r"(\{[^{}]*\})", plain if plain.startswith("/") else f"/{plain}")
    return "".join(piece if piece.startswith("{") else quote(piece, safe=_SAFE, errors="replace") for piece in pieces)
