"""The catalog: the services that a task may be approved for, shipped or added by the operator."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from typing import Any

from ferryman.catalog.consent import check_members, check_redirect_uris, need, parse_consent, parse_host
from ferryman.domain.credentials import credential
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.credentials.integration import WEBHOOK, Integration
from ferryman.domain.http.headers import is_declarable_header, normalize_header
from ferryman.domain.http.identity_headers import is_identity_header

_ID = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
HEADERS_MAX = 20
_FIELDS = frozenset(field.name for field in fields(Integration))
_REQUIRED = ("id", "name", "description", "category", "allowed_domains")


def load(extra: Sequence[Mapping[str, Any]] = ()) -> Mapping[str, Integration]:
    """Return every integration by id; those of `extra` replace shipped ones of the same id.

    Raise `MisconfiguredError`, which names the entry and the field, for an entry that breaks the rules.
    """
    shipped = json.loads(files(__name__).joinpath("integrations.json").read_text())["integrations"]
    known: dict[str, Integration] = {}
    for origin, entries in (("catalog/integrations.json", shipped), ("FERRYMAN_INTEGRATIONS", extra)):
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            integration = _parse_entry(entry, f"{origin} entry {index}")
            need(integration.id not in seen, f"{origin} entry {index}: id {integration.id!r} is given twice")
            seen.add(integration.id)
            known[integration.id] = integration
    check_redirect_uris(known)
    return known


def _parse_entry(entry: Mapping[str, Any], where: str) -> Integration:
    need(isinstance(entry, Mapping), f"{where}: must be an object")
    if isinstance(entry.get("id"), str):
        where = f"{where} ({entry['id'][:40]!r})"
    check_members(entry, where, _FIELDS, _REQUIRED)
    for name, value in entry.items():
        need(name in ("allowed_domains", "headers", "oauth") or isinstance(value, str), f"{where}: {name} must be a string")
    is_id = _ID.fullmatch(entry["id"]) and entry["id"] != WEBHOOK
    need(is_id, f"{where}: id must be a-z, 0-9 and _, at most 40 characters, and not {WEBHOOK}")
    values = {**entry, "allowed_domains": _parse_domains(entry["allowed_domains"], where)}
    if "headers" in entry:
        values["headers"] = _parse_headers(entry["headers"], where)
    if "oauth" in entry:
        values["oauth"] = parse_consent(entry["oauth"], values["allowed_domains"], where)
    if "default_auth_type" in entry:
        values["default_auth_type"] = _parse_auth_type(entry["default_auth_type"], where)
    integration = Integration(**values)
    _check_injection(integration, where)
    return integration


def _parse_domains(names: Any, where: str) -> tuple[str, ...]:
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    need(is_list and names, f"{where}: allowed_domains must list at least one domain")
    where = f"{where}: allowed_domains"
    return tuple(parse_host(name, where, prefix="*." if name.startswith("*.") else "") for name in map(str, names))


def _parse_headers(names: Any, where: str) -> tuple[str, ...]:
    is_list = isinstance(names, Sequence) and not isinstance(names, str) and len(names) <= HEADERS_MAX
    need(is_list, f"{where}: headers must list at most {HEADERS_MAX} names of headers")
    where = f"{where}: headers:"
    for name in names:
        is_name = isinstance(name, str) and credential.TOKEN.fullmatch(name)
        need(is_name, f"{where} {str(name)[:80]!r} must be an HTTP header name of at most 64 characters")
        is_settable = is_declarable_header(name) and normalize_header(name) != "authorization"
        need(is_settable, f"{where} {name} frames or routes a request, or holds its key: no model may set it")
        is_identity = is_identity_header(name)
        need(not is_identity, f"{where} {name} names the caller: a declared tool may send it with a fixed value")
    return tuple(names)


def _parse_auth_type(name: str, where: str) -> AuthType:
    need(name in list(AuthType), f"{where}: default_auth_type must be one of {', '.join(AuthType)}")
    return AuthType(name)


def _check_injection(integration: Integration, where: str) -> None:
    auth_type = integration.default_auth_type
    if auth_type is None:
        return
    header, param = integration.default_auth_header, integration.default_auth_param
    for problem in credential.find_injection_problems(auth_type, header, param):
        field = problem.field.replace("auth_", "default_auth_").removesuffix("_name")
        need(False, f"{where}: {field} {problem.message}")
    key, header = integration.credential_key_template, integration.idempotency_header
    is_key = key is None or not credential.find_name_problems(key)
    need(is_key, f"{where}: credential_key_template must be a credential's name")
    is_header = header is None or not credential.find_injection_problems(AuthType.HEADER, header, None)
    need(is_header, f"{where}: idempotency_header must be a header's name")
