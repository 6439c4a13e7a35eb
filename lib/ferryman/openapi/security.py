"""Security: which of the task's credentials an operation needs, and where in the request each is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ferryman.domain.credentials.credential import AuthType, find_injection_problems
from ferryman.domain.http.host import is_covered
from ferryman.openapi.context import ImportContext
from ferryman.openapi.references import Node
from ferryman.openapi.values import UnsupportedOperationError, list_members, to_line

ALTERNATIVES_READ_MAX = 20
_BEARERS = ("oauth2", "openIdConnect")
_NOT_LETTERS = re.compile(r"[^A-Z0-9]+", re.ASCII)
_SECRET, _BEARER = "{{secrets.NAME}}", "Bearer {{secrets.NAME}}"


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
        names = [name for name in bound if name not in used]
        if not names:
            raise UnsupportedOperationError(
                f"needs a credential for {host}: store one with `ferryman credential set`, then import again"
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
    if kind in _BEARERS or (kind == "http" and to_line(fields.get("scheme"), 16).lower() == "bearer"):
        return "header", "Authorization", _BEARER
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
