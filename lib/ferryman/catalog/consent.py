"""Consent: the OAuth settings of a service in the catalog, checked when it is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ferryman.domain.credentials import connection
from ferryman.domain.credentials.integration import Integration, OAuth
from ferryman.domain.http import url
from ferryman.domain.http.host import is_covered
from ferryman.settings import MisconfiguredError

_FIELDS = frozenset(field.name for field in fields(OAuth))
_LISTS = ("hosts", "scopes", "redirect_uris")
_LOCATIONS = ("basic_header", "body")
_FLAGS = ("sends_iss",)
_OURS = frozenset(
    ("response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "request")
)


def parse_consent(entry: Any, domains: Sequence[str], where: str) -> OAuth:
    """Return the `oauth` member of an entry whose allowed domains are `domains`. Raise `MisconfiguredError` with the place."""
    if not isinstance(entry, Mapping):
        raise MisconfiguredError(f"{where}: oauth must be an object")
    unknown, missing = set(entry) - _FIELDS, {"authorize_url", "token_url"} - set(entry)
    if unknown or missing:
        raise MisconfiguredError(f"{where}: oauth: unknown {sorted(unknown)}, missing {sorted(missing)}")
    for name, value in entry.items():
        if name in _LISTS:
            if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(text, str) for text in value):
                raise MisconfiguredError(f"{where}: oauth.{name} must be a list of strings")
        elif name in _FLAGS:
            if not isinstance(value, bool):
                raise MisconfiguredError(f"{where}: oauth.{name} must be true or false")
        elif name != "authorize_params" and not isinstance(value, str):
            raise MisconfiguredError(f"{where}: oauth.{name} must be a string")
    values = {**entry, **{name: tuple(entry[name]) for name in _LISTS if name in entry}}
    values["hosts"] = tuple(_parse_host(host, where) for host in values.get("hosts", ()))
    oauth = OAuth(**values)
    _check_urls(oauth, domains, where)
    _check_params(oauth, where)
    if oauth.creds_location not in _LOCATIONS:
        raise MisconfiguredError(f"{where}: oauth.creds_location must be one of {', '.join(_LOCATIONS)}")
    if not all(connection.is_plain_https(uri) or connection.is_loopback(uri) for uri in oauth.redirect_uris):
        rule = "must be https URLs without query and fragment, or http://127.0.0.1:PORT/… or http://[::1]:PORT/…"
        raise MisconfiguredError(f"{where}: oauth.redirect_uris {rule}")
    if oauth.issuer is not None and not connection.is_plain_https(oauth.issuer):
        raise MisconfiguredError(f"{where}: oauth.issuer must be an https URL without query and fragment")
    if oauth.sends_iss and oauth.issuer is None:
        raise MisconfiguredError(f"{where}: oauth.sends_iss needs oauth.issuer, which the response is compared with")
    for problem in connection.find_scope_problems(oauth.scopes):
        raise MisconfiguredError(f"{where}: oauth.{problem.field} {problem.message}")
    return oauth


def check_redirect_uris(known: Mapping[str, Integration]) -> None:
    """Raise `MisconfiguredError` for a redirect URI of two services, unless each sends `iss`.

    Only a redirect URI of its own, or `iss`, tells which service a response came from (mix-up attacks, RFC 9700, 4.4.2).
    """
    first: dict[str, Integration] = {}
    for integration in known.values():
        for uri in integration.oauth.redirect_uris if integration.oauth else ():
            other = first.setdefault(uri, integration)
            if other is not integration and not all(
                service.oauth and service.oauth.sends_iss for service in (other, integration)
            ):
                both = f"{other.id} and {integration.id}"
                raise MisconfiguredError(
                    f"the catalog: {both} have the same redirect URI: give each its own, or oauth.sends_iss"
                )


def _parse_host(text: str, where: str) -> str:
    try:
        return url.parse_host(text)
    except url.InvalidUrlError as error:
        raise MisconfiguredError(f"{where}: oauth.hosts: {text[:80]!r}: {error}") from None


def _check_urls(oauth: OAuth, domains: Sequence[str], where: str) -> None:
    for name in ("authorize_url", "token_url"):
        text = getattr(oauth, name)
        try:
            known = url.parse_url(text)
        except url.InvalidUrlError as error:
            raise MisconfiguredError(f"{where}: oauth.{name}: {error}") from None
        if "#" in text:
            raise MisconfiguredError(f"{where}: oauth.{name} must have no fragment")
        if not is_covered((*domains, *oauth.hosts), known.host):
            raise MisconfiguredError(f"{where}: oauth.{name}: {known.host} is neither an allowed domain nor one of oauth.hosts")


def _check_params(oauth: OAuth, where: str) -> None:
    params = oauth.authorize_params
    if not isinstance(params, Mapping) or not all(isinstance(text, str) for pair in params.items() for text in pair):
        raise MisconfiguredError(f"{where}: oauth.authorize_params must be an object of strings")
    if reserved := sorted(_OURS & set(params)):
        raise MisconfiguredError(f"{where}: oauth.authorize_params: {', '.join(reserved)} are set by Ferryman")
