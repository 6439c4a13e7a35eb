"""The catalog: the services a task may be approved for, as shipped and as the operator adds them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from typing import Any

from ferryman.catalog.consent import consent
from ferryman.domain import credential, url
from ferryman.domain.credential import AuthType
from ferryman.domain.integration import WEBHOOK, Integration
from ferryman.settings import Misconfigured

_ID = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_FIELDS = frozenset(each.name for each in fields(Integration))
_REQUIRED = ("id", "name", "description", "category", "allowed_domains")


def load(extra: Sequence[Mapping[str, Any]] = ()) -> Mapping[str, Integration]:
    """Every integration by id, those of `extra` replacing shipped ones of the same id.

    Raises `Misconfigured`, naming the entry and the field, for one that breaks the rules.
    """
    shipped = json.loads(files(__name__).joinpath("integrations.json").read_text())["integrations"]
    known: dict[str, Integration] = {}
    for origin, entries in (("catalog/integrations.json", shipped), ("FERRYMAN_INTEGRATIONS", extra)):
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            integration = _read(entry, f"{origin} entry {index}")
            if integration.id in seen:
                raise Misconfigured(f"{origin} entry {index}: id {integration.id!r} is given twice")
            seen.add(integration.id)
            known[integration.id] = integration
    return known


def _read(entry: Mapping[str, Any], where: str) -> Integration:
    if not isinstance(entry, Mapping):
        raise Misconfigured(f"{where}: must be an object")
    if isinstance(entry.get("id"), str):
        where = f"{where} ({entry['id'][:40]!r})"
    unknown, missing = set(entry) - _FIELDS, set(_REQUIRED) - set(entry)
    if unknown or missing:
        raise Misconfigured(f"{where}: unknown {sorted(unknown)}, missing {sorted(missing)}")
    for name, value in entry.items():
        if name not in ("allowed_domains", "oauth") and not isinstance(value, str):
            raise Misconfigured(f"{where}: {name} must be a string")
    if not _ID.fullmatch(entry["id"]) or entry["id"] == WEBHOOK:
        raise Misconfigured(f"{where}: id must be a-z, 0-9 and _, at most 40 characters, and not {WEBHOOK}")
    values = {**entry, "allowed_domains": _domains(entry["allowed_domains"], where)}
    if "oauth" in entry:
        values["oauth"] = consent(entry["oauth"], values["allowed_domains"], where)
    if "default_auth_type" in entry:
        values["default_auth_type"] = _auth_type(entry["default_auth_type"], where)
    integration = Integration(**values)
    _injection(integration, where)
    return integration


def _domains(given: Any, where: str) -> tuple[str, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise Misconfigured(f"{where}: allowed_domains must list at least one domain")
    found = []
    for domain in given:
        try:
            plain = url.host(str(domain).removeprefix("*."))
        except url.Malformed as error:
            raise Misconfigured(f"{where}: allowed_domains: {str(domain)[:80]!r}: {error}") from None
        found.append(f"*.{plain}" if str(domain).startswith("*.") else plain)
    return tuple(found)


def _auth_type(given: str, where: str) -> AuthType:
    try:
        return AuthType(given)
    except ValueError:
        raise Misconfigured(f"{where}: default_auth_type must be one of {', '.join(AuthType)}") from None


def _injection(integration: Integration, where: str) -> None:
    auth_type = integration.default_auth_type
    if auth_type is None:
        return
    header, param = integration.default_auth_header, integration.default_auth_param
    for each in credential.injection_problems(auth_type, header, param):
        raise Misconfigured(f"{where}: {each.field.replace('auth_', 'default_auth_').removesuffix('_name')} {each.message}")
    key = integration.credential_key_template
    if key is not None and credential.name_problems(key):
        raise Misconfigured(f"{where}: credential_key_template must be a credential's name")
    if integration.idempotency_header is not None and credential.injection_problems(
        AuthType.HEADER, integration.idempotency_header, None
    ):
        raise Misconfigured(f"{where}: idempotency_header must be a header's name")
