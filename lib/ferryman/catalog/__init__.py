"""The catalog: the services that a task may be approved for, shipped or added by the operator."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields
from importlib.resources import files
from typing import Any

from ferryman.domain.credentials import connection, credential
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.credentials.integration import WEBHOOK, Integration, OAuth
from ferryman.domain.http import url
from ferryman.domain.http.headers import is_declarable_header, is_identity_header, normalize_header
from ferryman.domain.http.host import is_covered
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
        is_known = entry["default_auth_type"] in list(AuthType)
        need(is_known, f"{where}: default_auth_type must be one of {', '.join(AuthType)}")
        values["default_auth_type"] = AuthType(entry["default_auth_type"])
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


_OAUTH_FIELDS = frozenset(field.name for field in fields(OAuth))
_LISTS = ("hosts", "scopes", "redirect_uris")
_LOCATIONS = ("basic_header", "body")
_FLAGS = ("sends_iss",)
_OURS = frozenset(
    ("response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "request")
)


def need(holds: object, message: str) -> None:
    """Raise `MisconfiguredError` with `message` unless `holds`."""
    if not holds:
        raise MisconfiguredError(message)


def parse_consent(entry: Any, domains: Sequence[str], where: str) -> OAuth:
    """Return the `oauth` member of an entry whose allowed domains are `domains`. Raise `MisconfiguredError` with the place."""
    where = f"{where}: oauth"
    need(isinstance(entry, Mapping), f"{where} must be an object")
    check_members(entry, where, _OAUTH_FIELDS, ("authorize_url", "token_url"))
    for name, value in entry.items():
        if name in _LISTS:
            is_list = (
                isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(text, str) for text in value)
            )
            need(is_list, f"{where}.{name} must be a list of strings")
        elif name in _FLAGS:
            need(isinstance(value, bool), f"{where}.{name} must be true or false")
        elif name != "authorize_params":
            need(isinstance(value, str), f"{where}.{name} must be a string")
    values = {**entry, **{name: tuple(entry[name]) for name in _LISTS if name in entry}}
    values["hosts"] = tuple(parse_host(host, f"{where}.hosts") for host in values.get("hosts", ()))
    oauth = OAuth(**values)
    _check_urls(oauth, domains, where)
    _check_params(oauth.authorize_params, f"{where}.authorize_params")
    need(oauth.creds_location in _LOCATIONS, f"{where}.creds_location must be one of {', '.join(_LOCATIONS)}")
    rule = "must be https URLs without query and fragment, or http://127.0.0.1:PORT/… or http://[::1]:PORT/…"
    are_valid = all(connection.is_plain_https(uri) or connection.is_loopback(uri) for uri in oauth.redirect_uris)
    need(are_valid, f"{where}.redirect_uris {rule}")
    is_issuer = oauth.issuer is None or connection.is_plain_https(oauth.issuer)
    need(is_issuer, f"{where}.issuer must be an https URL without query and fragment")
    is_compared = oauth.issuer is not None or not oauth.sends_iss
    need(is_compared, f"{where}.sends_iss needs oauth.issuer, which the response is compared with")
    for problem in connection.find_scope_problems(oauth.scopes):
        need(False, f"{where}.{problem.field} {problem.message}")
    return oauth


def check_members(entry: Mapping[str, Any], where: str, known: Set[str], required: Iterable[str]) -> None:
    """Raise `MisconfiguredError` unless the members of `entry` are `known`, and all that are `required` among them."""
    unknown, missing = set(entry) - known, set(required) - set(entry)
    need(not unknown and not missing, f"{where}: unknown {sorted(unknown)}, missing {sorted(missing)}")


def parse_host(text: str, where: str, *, prefix: str = "") -> str:
    """Return the canonical host name, behind its `prefix`. Raise `MisconfiguredError`."""
    try:
        return prefix + url.parse_host(text.removeprefix(prefix))
    except url.InvalidUrlError as error:
        raise MisconfiguredError(f"{where}: {text[:80]!r}: {error}") from None


def check_redirect_uris(known: Mapping[str, Integration]) -> None:
    """Raise `MisconfiguredError` for a redirect URI of two services, unless each sends `iss`.

    Only a redirect URI of its own, or `iss`, tells which service a response came from (mix-up attacks, RFC 9700, 4.4.2).
    """
    first: dict[str, Integration] = {}
    for integration in known.values():
        for uri in integration.oauth.redirect_uris if integration.oauth else ():
            other = first.setdefault(uri, integration)
            is_told_apart = all(service.oauth and service.oauth.sends_iss for service in (other, integration))
            both = f"the catalog: {other.id} and {integration.id}"
            need(
                other is integration or is_told_apart,
                f"{both} have the same redirect URI: give each its own, or oauth.sends_iss",
            )


def _check_urls(oauth: OAuth, domains: Sequence[str], where: str) -> None:
    for name in ("authorize_url", "token_url"):
        text = getattr(oauth, name)
        try:
            host = url.parse_url(text).host
        except url.InvalidUrlError as error:
            raise MisconfiguredError(f"{where}.{name}: {error}") from None
        need("#" not in text, f"{where}.{name} must have no fragment")
        is_known = is_covered((*domains, *oauth.hosts), host)
        need(is_known, f"{where}.{name}: {host} is neither an allowed domain nor one of oauth.hosts")


def _check_params(params: Any, where: str) -> None:
    is_texts = isinstance(params, Mapping) and all(isinstance(text, str) for pair in params.items() for text in pair)
    need(is_texts, f"{where} must be an object of strings")
    reserved = sorted(_OURS & set(params))
    need(not reserved, f"{where}: {', '.join(reserved)} are set by Ferryman")
