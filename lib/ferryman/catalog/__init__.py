"""The catalog: the services that a task may be approved for, shipped or added by the operator."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from typing import Any

from ferryman.catalog.consent import check_redirect_uris, parse_consent
from ferryman.domain.credentials import credential
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.credentials.integration import WEBHOOK, Integration
from ferryman.domain.http import url
from ferryman.domain.http.headers import is_declarable_header, normalize_header
from ferryman.domain.http.identity_headers import is_identity_header
from ferryman.settings import MisconfiguredError

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
            if integration.id in seen:
                raise MisconfiguredError(f"{origin} entry {index}: id {integration.id!r} is given twice")
            seen.add(integration.id)
            known[integration.id] = integration
    check_redirect_uris(known)
    return known


def _parse_entry(entry: Mapping[str, Any], where: str) -> Integration:
    if not isinstance(entry, Mapping):
        raise MisconfiguredError(f"{where}: must be an object")
    if isinstance(entry.get("id"), str):
        where = f"{where} ({entry['id'][:40]!r})"
    unknown, missing = set(entry) - _FIELDS, set(_REQUIRED) - set(entry)
    if unknown or missing:
        raise MisconfiguredError(f"{where}: unknown {sorted(unknown)}, missing {sorted(missing)}")
    for name, value in entry.items():
        if name not in ("allowed_domains", "headers", "oauth") and not isinstance(value, str):
            raise MisconfiguredError(f"{where}: {name} must be a string")
    if not _ID.fullmatch(entry["id"]) or entry["id"] == WEBHOOK:
        raise MisconfiguredError(f"{where}: id must be a-z, 0-9 and _, at most 40 characters, and not {WEBHOOK}")
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
    if not isinstance(names, Sequence) or isinstance(names, str) or not names:
        raise MisconfiguredError(f"{where}: allowed_domains must list at least one domain")
    domains = []
    for domain in names:
        try:
            plain = url.parse_host(str(domain).removeprefix("*."))
        except url.InvalidUrlError as error:
            raise MisconfiguredError(f"{where}: allowed_domains: {str(domain)[:80]!r}: {error}") from None
        domains.append(f"*.{plain}" if str(domain).startswith("*.") else plain)
    return tuple(domains)


def _parse_headers(names: Any, where: str) -> tuple[str, ...]:
    if not isinstance(names, Sequence) or isinstance(names, str) or len(names) > HEADERS_MAX:
        raise MisconfiguredError(f"{where}: headers must list at most {HEADERS_MAX} names of headers")
    for name in names:
        if not isinstance(name, str) or not credential.TOKEN.fullmatch(name):
            raise MisconfiguredError(
                f"{where}: headers: {str(name)[:80]!r} must be an HTTP header name of at most 64 characters"
            )
        if not is_declarable_header(name) or normalize_header(name) == "authorization":
            raise MisconfiguredError(
                f"{where}: headers: {name} frames or routes a request, or holds its key: no model may set it"
            )
        if is_identity_header(name):
            raise MisconfiguredError(
                f"{where}: headers: {name} names the caller: a declared tool may send it with a fixed value"
            )
    return tuple(names)


def _parse_auth_type(name: str, where: str) -> AuthType:
    try:
        return AuthType(name)
    except ValueError:
        raise MisconfiguredError(f"{where}: default_auth_type must be one of {', '.join(AuthType)}") from None


def _check_injection(integration: Integration, where: str) -> None:
    auth_type = integration.default_auth_type
    if auth_type is None:
        return
    header, param = integration.default_auth_header, integration.default_auth_param
    for problem in credential.find_injection_problems(auth_type, header, param):
        raise MisconfiguredError(
            f"{where}: {problem.field.replace('auth_', 'default_auth_').removesuffix('_name')} {problem.message}"
        )
    key = integration.credential_key_template
    if key is not None and credential.find_name_problems(key):
        raise MisconfiguredError(f"{where}: credential_key_template must be a credential's name")
    if integration.idempotency_header is not None and credential.find_injection_problems(
        AuthType.HEADER, integration.idempotency_header, None
    ):
        raise MisconfiguredError(f"{where}: idempotency_header must be a header's name")
