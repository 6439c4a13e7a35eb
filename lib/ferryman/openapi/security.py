"""Security: which of the task's credentials an operation needs, and where in the request it goes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.credentials.credential import AuthType, find_injection_problems
from ferryman.domain.http.host import is_covered
from ferryman.openapi.notes import Notes, UnsupportedOperationError
from ferryman.openapi.references import Node, References
from ferryman.openapi.values import items, mapping, members, text

ALTERNATIVES_READ_MAX = 20
_BEARERS = ("oauth2", "openIdConnect")
_LETTERS = re.compile(r"[^A-Z0-9]+", re.ASCII)

Credentials = Mapping[str, Collection[str]]
"""A task's credentials by name, each with the host patterns it is bound to."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What the credentials of an operation are sent as: templates by their names on the wire."""

    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)


def keys(
    requirements: Node | None, schemes: Node, host: str, credentials: Credentials, references: References, notes: Notes
) -> Keys:
    """The credentials for an operation at `host`: those of the first alternative that the task has all of; or
    `UnsupportedOperationError`.

    `requirements` is the list of alternatives; none, or an empty one among them, needs no credential.
    """
    listed = items(None if requirements is None else requirements.value, ALTERNATIVES_READ_MAX)
    if not listed or any(each == {} for each in listed):
        return Keys()
    bound = sorted(name for name, hosts in credentials.items() if is_covered(hosts, host))
    refused: UnsupportedOperationError | None = None
    for each in listed:
        try:
            return _alternative(each, schemes, host, bound, references, notes)
        except UnsupportedOperationError as unfit:
            refused = refused or unfit
    raise refused or UnsupportedOperationError("has security that nothing satisfies")


def _alternative(required: Any, schemes: Node, host: str, bound: list[str], references: References, notes: Notes) -> Keys:
    found, used = Keys(), set[str]()
    for scheme, _ in members(required, ALTERNATIVES_READ_MAX):
        node = references.follow(Node(mapping(schemes.value).get(scheme), schemes.uri))
        place, wire, form = _place(scheme, mapping(None if node is None else node.value))
        names = [each for each in bound if each not in used]
        if not names:
            raise UnsupportedOperationError(
                f"needs a credential for {host}: store one with `ferryman credential set`, then import again"
            )
        like = [name for name in names if _LETTERS.sub("", name) in (_letters(scheme), _letters(wire))]
        name = (like or names)[0]
        if len(names) > 1 and not like:
            notes.add(f"several credentials are bound to {host}: {name} is sent")
        used.add(name)
        (found.headers if place == "header" else found.query)[wire] = form.replace("NAME", name)
    if not used:
        raise UnsupportedOperationError("has security that cannot be read")
    return found


def _letters(name: str) -> str:
    return _LETTERS.sub("", name[:128].upper())


def _place(name: str, scheme: Mapping[str, Any]) -> tuple[str, str, str]:
    # Where the credential goes, its name there, and its template.
    kind, secret, bearer = scheme.get("type"), "{{secrets.NAME}}", "Bearer {{secrets.NAME}}"
    if kind in _BEARERS or (kind == "http" and text(scheme.get("scheme"), 16).lower() == "bearer"):
        return "header", "Authorization", bearer
    if kind == "apiKey" and scheme.get("in") in ("header", "query"):
        place, wire = str(scheme["in"]), scheme.get("name")
        auth_type = AuthType.HEADER if place == "header" else AuthType.QUERY_PARAM
        header, param = (wire, None) if place == "header" else (None, wire)
        if not isinstance(wire, str) or find_injection_problems(auth_type, header, param):
            raise UnsupportedOperationError(
                f"asks for a credential in the {place} {text(wire, 64)!r}, which no credential is sent in"
            )
        # Kubernetes and others declare bearer tokens so; Swagger 2.0 has no other way.
        spoken = f"{name[:64]} {text(scheme.get('description'), 300)}".lower()
        return place, wire, bearer if wire.lower() == "authorization" and "bearer" in spoken else secret
    said = " ".join(text(scheme.get(each), 32) for each in ("type", "scheme", "in") if text(scheme.get(each), 32))
    raise UnsupportedOperationError(f"asks for {said or 'security that the document does not define'}, which is not supported")


def wires(found: Keys) -> Iterator[tuple[str, str]]:
    """The places and names that credentials have, as a parameter would: a parameter of that name is not the model's to say."""
    yield from (("header", name.lower()) for name in found.headers)
    yield from (("query", name) for name in found.query)
