"""Asking: the request that an auth block declares, as it is sent to its token endpoint."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus

from ferryman.declared import templates
from ferryman.declared.templates import ABSENT, Malformed, Scope
from ferryman.domain import refusal
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.declared import Auth, ClientCredentials, TokenExchange
from ferryman.domain.host import covered
from ferryman.domain.http import BodyType, Hole, Method, Mixed, Outbound, Text
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.domain.url import URL, NotHTTPS, parse
from ferryman.domain.url import Malformed as MalformedURL

BASIC = "basic"
"""The name of id and secret in one (RFC 7617). Owners' names are capitals: none is this one."""

_JSON = "application/json"
_CREDENTIALS_LOCATIONS = ("basic_header", "body")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A token request, ready for the gate. `used` are the task's credentials that go into it, by name; `credentials` are all.

    `credentials` holds more than the task's where one had to be made of others.
    """

    outbound: Outbound
    used: Mapping[str, Credential]
    credentials: Mapping[str, Credential] = field(repr=False)


def asking(auth: Auth, *, tool: str, scope: Scope, remit: Remit, credentials: Mapping[str, Credential]) -> Asking:
    """The request for a token of `auth`; raises `Refused` where this execution may not send it, whoever else has before."""
    if isinstance(auth, ClientCredentials):
        return _client_credentials(auth, tool=tool, scope=scope, remit=remit, credentials=credentials)
    return _exchange(auth, tool=tool, scope=scope, remit=remit, credentials=credentials)


def admitted(url: str, remit: Remit) -> URL:
    """`url`, where the execution may call it, or `Refused`; the gate says so too, but only of what is sent."""
    try:
        parsed = parse(url)
    except NotHTTPS:
        raise Refused(refusal.not_https()) from None
    except MalformedURL as error:
        raise Refused(refusal.malformed_url(str(error))) from None
    if not remit.admits(parsed.host):
        raise Refused(refusal.not_approved(parsed.host, remit.domains))
    return parsed


def _client_credentials(
    auth: ClientCredentials, *, tool: str, scope: Scope, remit: Remit, credentials: Mapping[str, Credential]
) -> Asking:
    url = _plain(_filled(auth.token_url, scope), "token_url")
    body: dict[str, Any] = {"grant_type": "client_credentials"}
    client, secret, wanted = (_filled(each, scope) for each in (auth.client_id, auth.client_secret, auth.scope))
    if wanted:
        body["scope"] = wanted
    used = bound((client, secret, wanted), admitted(url, remit).host, credentials)
    headers: dict[str, Text] = {"Accept": _JSON}
    if auth.creds_location not in _CREDENTIALS_LOCATIONS:
        raise Refused(refusal.token_not_fetched(f"creds_location must be one of {', '.join(_CREDENTIALS_LOCATIONS)}"))
    if auth.creds_location == "basic_header":
        credentials = {**credentials, BASIC: _basic(client, secret, admitted(url, remit).host, remit, used)}
        headers["Authorization"] = Mixed(("Basic ", Hole(BASIC)))
    else:
        body |= {"client_id": client, "client_secret": secret}
    outbound = Outbound(
        tool=tool, method=Method.POST, url=url, fixed_headers=headers, body=body, body_type=BodyType.FORM, ok=range(200, 300)
    )
    return Asking(outbound=outbound, used=used, credentials=credentials)


def _exchange(auth: TokenExchange, *, tool: str, scope: Scope, remit: Remit, credentials: Mapping[str, Credential]) -> Asking:
    request = auth.request
    url = _plain(_filled(request.url, scope), "auth.request.url")
    headers = {name: _text(_filled(value, scope)) for name, value in request.headers.items()}
    body = _filled(request.body, scope)
    used = bound((headers, body), admitted(url, remit).host, credentials)
    outbound = Outbound(
        tool=tool,
        method=request.method,
        url=url,
        fixed_headers=headers,
        body=body,
        body_type=request.body_type,
        ok=range(200, 300),
    )
    return Asking(outbound=outbound, used=used, credentials=credentials)


def bound(value: Any, host: str, credentials: Mapping[str, Credential]) -> dict[str, Credential]:
    """The credentials that go into `value`, by name; raises `Refused` where one is missing or may not be sent to `host`."""
    found = {}
    for name in sorted(set(_holes(value))):
        credential = credentials.get(name)
        if credential is None:
            raise Refused(refusal.credential_not_found(name))
        if not covered(credential.label.hosts, host):
            raise Refused(refusal.credential_not_for_host(name, host))
        found[name] = credential
    return found


def _basic(client: Any, secret: Any, host: str, remit: Remit, used: Mapping[str, Credential]) -> Credential:
    """Id and secret as RFC 6749 2.3.1 has them: each form-encoded, then both in base64. It goes to `host` and nowhere else."""
    pair = ":".join(quote_plus(_revealed(each, used)) for each in (client, secret))
    label = Label(
        owner=remit.owner, task=remit.task, name=BASIC, version=1, service="", auth_type=AuthType.BEARER, hosts=(host,)
    )
    return Credential(label=label, secret=Secret(base64.b64encode(pair.encode()).decode()))


def _revealed(text: Any, used: Mapping[str, Credential]) -> str:
    pieces = text.pieces if isinstance(text, Mixed) else (templates.text(text),)
    return "".join(each if isinstance(each, str) else used[each.name].secret.reveal() for each in pieces)


def _filled(value: Any, scope: Scope) -> Any:
    """`value` with every template in it filled; what stands for nothing is left out of its object or list."""
    if isinstance(value, str):
        try:
            return templates.fill(templates.parse(value), scope)
        except Malformed as error:
            raise Refused(refusal.token_not_fetched(f"a template of the auth block {error}")) from None
    if isinstance(value, Mapping):
        filled = {name: _filled(each, scope) for name, each in value.items()}
        return {name: each for name, each in filled.items() if each is not ABSENT}
    if isinstance(value, list | tuple):
        return [each for each in (_filled(inner, scope) for inner in value) if each is not ABSENT]
    return value


def _plain(url: Any, what: str) -> str:
    if isinstance(url, Mixed):
        raise Refused(refusal.token_not_fetched(f"{what} may hold no secret: put it into a header or the body"))
    return templates.text(url)


def _text(value: Any) -> Text:
    return value if isinstance(value, Mixed) else templates.text(value)


def _holes(value: Any) -> Iterator[str]:
    if isinstance(value, Mixed):
        yield from (each.name for each in value.pieces if isinstance(each, Hole))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _holes(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _holes(each)
