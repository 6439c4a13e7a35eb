"""Consent: how an entry of the catalog says that a person connects its service, checked when it is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ferryman.domain import connection, url
from ferryman.domain.host import covered
from ferryman.domain.integration import OAuth
from ferryman.settings import Misconfigured

_FIELDS = frozenset(each.name for each in fields(OAuth))
_LISTS = ("hosts", "scopes", "redirect_uris")
_LOCATIONS = ("basic_header", "body")
_OURS = frozenset(
    ("response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "request")
)


def consent(entry: Any, domains: Sequence[str], where: str) -> OAuth:
    """The `oauth` member of an entry whose allowed domains are `domains`. Raises `Misconfigured` with the place."""
    if not isinstance(entry, Mapping):
        raise Misconfigured(f"{where}: oauth must be an object")
    unknown, missing = set(entry) - _FIELDS, {"authorize_url", "token_url"} - set(entry)
    if unknown or missing:
        raise Misconfigured(f"{where}: oauth: unknown {sorted(unknown)}, missing {sorted(missing)}")
    for name, value in entry.items():
        if name in _LISTS:
            if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(each, str) for each in value):
                raise Misconfigured(f"{where}: oauth.{name} must be a list of strings")
        elif name != "authorize_params" and not isinstance(value, str):
            raise Misconfigured(f"{where}: oauth.{name} must be a string")
    values = {**entry, **{name: tuple(entry[name]) for name in _LISTS if name in entry}}
    values["hosts"] = tuple(_host(each, where) for each in values.get("hosts", ()))
    found = OAuth(**values)
    _urls(found, domains, where)
    _params(found, where)
    if found.creds_location not in _LOCATIONS:
        raise Misconfigured(f"{where}: oauth.creds_location must be one of {', '.join(_LOCATIONS)}")
    if not all(connection.registered(each) for each in found.redirect_uris):
        raise Misconfigured(f"{where}: oauth.redirect_uris must be https URLs without query and fragment")
    for each in connection.scope_problems(found.scopes):
        raise Misconfigured(f"{where}: oauth.{each.field} {each.message}")
    return found


def _host(text: str, where: str) -> str:
    try:
        return url.host(text)
    except url.Malformed as error:
        raise Misconfigured(f"{where}: oauth.hosts: {text[:80]!r}: {error}") from None


def _urls(found: OAuth, domains: Sequence[str], where: str) -> None:
    for name in ("authorize_url", "token_url"):
        text = getattr(found, name)
        try:
            known = url.parse(text)
        except url.Malformed as error:
            raise Misconfigured(f"{where}: oauth.{name}: {error}") from None
        if "#" in text:
            raise Misconfigured(f"{where}: oauth.{name} must have no fragment")
        if not covered((*domains, *found.hosts), known.host):
            raise Misconfigured(f"{where}: oauth.{name}: {known.host} is neither an allowed domain nor one of oauth.hosts")


def _params(found: OAuth, where: str) -> None:
    given = found.authorize_params
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for pair in given.items() for each in pair):
        raise Misconfigured(f"{where}: oauth.authorize_params must be an object of strings")
    if taken := sorted(_OURS & set(given)):
        raise Misconfigured(f"{where}: oauth.authorize_params: {', '.join(taken)} are set by the house")
