"""Servers and security: the host of an operation, whether a task may call it, and which of its credentials are sent there.

Importing approves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urljoin

from ferryman.domain.credentials.credential import AuthType, find_injection_problems
from ferryman.domain.http import url
from ferryman.domain.http.host import is_covered
from ferryman.openapi.context import ImportContext
from ferryman.openapi.references import Node
from ferryman.openapi.values import UnsupportedOperationError, list_members, to_line, to_mapping

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


ALTERNATIVES_READ_MAX = 20
_BEARERS = ("oauth2", "openIdConnect")
_NOT_LETTERS = re.compile(r"[^A-Z0-9]+", re.ASCII)
_SECRET, _BEARER, _PAIR = "{{secrets.NAME}}", "Bearer {{secrets.NAME}}", "Basic {{secrets.NAME}}"


@dataclass(frozen=True, slots=True)
class CredentialTemplates:
    """The templates of an operation's credentials, by their names in the request."""

    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)

    def list_names(self) -> Iterator[tuple[str, str]]:
        """Yield the places and names of the credentials: a parameter of such a name is not an argument of the model."""
        yield from (("header", name.lower()) for name in self.headers)
        yield from (("query", name) for name in self.query)


def choose_credentials(context: ImportContext, requirements: Node, schemes: Node, host: str) -> CredentialTemplates:
    """Return the credentials for an operation at `host`: those of the first alternative that the task has all of.

    `requirements` is the list of alternatives; none, or an empty one among them, needs no credential. Raise
    `UnsupportedOperationError`.
    """
    alternatives = requirements.items(ALTERNATIVES_READ_MAX)
    if not alternatives or any(alternative.value == {} for alternative in alternatives):
        return CredentialTemplates()
    bound = sorted(name for name, hosts in context.source.credentials.items() if is_covered(hosts, host))
    first_error: UnsupportedOperationError | None = None
    for alternative in alternatives:
        try:
            return _choose_all(context, alternative, schemes, host, bound)
        except UnsupportedOperationError as error:
            first_error = first_error or error
    raise first_error or UnsupportedOperationError("has security that nothing satisfies")


def _choose_all(context: ImportContext, required: Node, schemes: Node, host: str, bound: list[str]) -> CredentialTemplates:
    templates, used = CredentialTemplates(), set[str]()
    for scheme_name, _ in list_members(required.value, ALTERNATIVES_READ_MAX):
        scheme = context.references.follow(schemes.child(scheme_name)) or Node(None, schemes.uri)
        place, wire, template = _read_scheme(scheme_name, scheme)
        is_pair = template == _PAIR
        names = [name for name in bound if name not in used and (name in context.source.pairs) is is_pair]
        if not names:
            what, option = ("user name and password", " --auth-type basic") if is_pair else ("credential", "")
            raise UnsupportedOperationError(
                f"needs a {what} for {host}: store one with `ferryman credential set{option}`, then import again"
            )
        similar = [name for name in names if _list_letters(name) in (_list_letters(scheme_name), _list_letters(wire))]
        name = (similar or names)[0]
        if len(names) > 1 and not similar:
            context.notes.add(f"several credentials are bound to {host}: {name} is sent")
        used.add(name)
        (templates.headers if place == "header" else templates.query)[wire] = template.replace("NAME", name)
    if not used:
        raise UnsupportedOperationError("has security that cannot be read")
    return templates


def _list_letters(name: str) -> str:
    return _NOT_LETTERS.sub("", name[:128].upper())


def _read_scheme(name: str, scheme: Node) -> tuple[str, str, str]:
    """Return the place of the credential, its name there, and its template."""
    fields = scheme.fields
    kind, place, wire = fields.get("type"), fields.get("in"), fields.get("name")
    http = to_line(fields.get("scheme"), 16).lower() if kind == "http" else ""
    if kind in _BEARERS or http == "bearer":
        return "header", "Authorization", _BEARER
    if http == "basic":
        return "header", "Authorization", _PAIR
    if kind == "apiKey" and place in ("header", "query"):
        auth_type, header, param = (AuthType.HEADER, wire, None) if place == "header" else (AuthType.QUERY_PARAM, None, wire)
        if not isinstance(wire, str) or find_injection_problems(auth_type, header, param):
            raise UnsupportedOperationError(f"has a credential in the {place} {to_line(wire, 64)!r}, where none is sent")
        # Kubernetes and others declare bearer tokens so; Swagger 2.0 has no other way.
        words = f"{name[:64]} {to_line(fields.get('description'), 300)}".lower()
        return str(place), wire, _BEARER if wire.lower() == "authorization" and "bearer" in words else _SECRET
    scheme_words = " ".join(filter(None, (to_line(fields.get(field_name), 32) for field_name in ("type", "scheme", "in"))))
    missing = "security that the document does not define"
    raise UnsupportedOperationError(f"asks for {scheme_words or missing}, which is not supported")
