"""Asking: the request that an auth block declares, as it is sent to its token endpoint."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus

from ferryman.declared import styles, templates
from ferryman.declared.templates import ABSENT, Name
from ferryman.domain import refusal
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.declared import Auth, Style, TokenExchange
from ferryman.domain.host import covered
from ferryman.domain.http import BodyType, Hole, Method, Mixed, Outbound, Text
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.domain.url import Malformed, NotHTTPS, parse

BASIC = "basic"
"""The name of id and secret in one (RFC 7617). Owners' names are capitals: none is this one."""

_OK = range(200, 300)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A token request, ready for the gate. `used` are the task's credentials that go into it, by name.

    `credentials` are all of the task's, and the one that had to be made of others.
    """

    outbound: Outbound
    used: Mapping[str, Credential]
    credentials: Mapping[str, Credential] = field(repr=False)


def asking(
    auth: Auth, *, tool: str, remit: Remit, credentials: Mapping[str, Credential], env: Mapping[str, Text] | None = None
) -> Asking:
    """The request for a token of `auth`, or `Refused`, also where another execution may send it and this one may not.

    Its templates name secrets, and variables where `env` is given.
    """
    filling = _Filling(env or {})
    if isinstance(auth, TokenExchange):
        outbound = _exchange(auth, tool, filling)
        used = _bound(
            (outbound.fixed_headers, outbound.query_params, outbound.body), admitted(outbound.url, remit), credentials
        )
        return Asking(outbound=outbound, used=used, credentials=credentials)
    host = admitted(auth.token_url, remit)
    client, secret, wanted = (_text(filling.of(each)) for each in (auth.client_id, auth.client_secret, auth.scope))
    used = _bound((client, secret, wanted), host, credentials)
    body: dict[str, Text] = {"grant_type": "client_credentials", **({"scope": wanted} if wanted else {})}
    headers: dict[str, Text] = {"Accept": "application/json"}
    if auth.creds_location == "body":
        body |= {"client_id": client, "client_secret": secret}
    else:
        headers["Authorization"] = Mixed(("Basic ", Hole(BASIC)))
        pair = ":".join(quote_plus(_revealed(each, used)) for each in (client, secret))
        credentials = {**credentials, BASIC: _basic(pair, host, remit)}
    outbound = Outbound(
        tool=tool,
        method=Method.POST,
        url=auth.token_url,
        fixed_headers=headers,
        body=body,
        body_type=BodyType.FORM,
        ok=_OK,
    )
    return Asking(outbound=outbound, used=used, credentials=credentials)


def admitted(url: str, remit: Remit) -> str:
    """The host of `url`, where the execution may call it, or `Refused`. The gate says so too, but only of what is sent."""
    try:
        host = parse(url).host
    except NotHTTPS:
        raise Refused(refusal.not_https()) from None
    except Malformed as error:
        raise Refused(refusal.malformed_url(str(error))) from None
    if not remit.admits(host):
        raise Refused(refusal.not_approved(host, remit.domains))
    return host


def _exchange(auth: TokenExchange, tool: str, filling: _Filling) -> Outbound:
    request = auth.request
    body = filling.of(request.body)
    pairs = {} if request.body_type is BodyType.JSON or body is None else _pairs(body)
    sent = body if request.body_type is BodyType.JSON else pairs
    headers = {name: _text(filling.of(value)) for name, value in request.headers.items()}
    return Outbound(
        tool=tool,
        method=request.method,
        url=request.url,
        query_params=pairs if request.body_type is BodyType.QUERY else {},
        fixed_headers={name: value for name, value in headers.items() if value},
        body=sent if request.method.carries_body and request.body_type is not BodyType.QUERY else None,
        body_type=request.body_type,
        ok=_OK,
    )


def _bound(value: Any, host: str, credentials: Mapping[str, Credential]) -> dict[str, Credential]:
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


def _basic(pair: str, host: str, remit: Remit) -> Credential:
    """Id and secret, each form-encoded and a colon between, in base64 (RFC 6749, 2.3.1). It goes to `host` and nowhere else."""
    label = Label(
        owner=remit.owner, task=remit.task, name=BASIC, version=1, service="", auth_type=AuthType.BEARER, hosts=(host,)
    )
    return Credential(label=label, secret=Secret(base64.b64encode(pair.encode()).decode()))


def _revealed(text: Text, used: Mapping[str, Credential]) -> str:
    pieces = text.pieces if isinstance(text, Mixed) else (text,)
    return "".join(each if isinstance(each, str) else used[each.name].secret.reveal() for each in pieces)


@dataclass(frozen=True, slots=True)
class _Filling:
    """What the templates of a login stand for."""

    env: Mapping[str, Text] = field(repr=False)

    def of(self, value: Any) -> Any:
        """`value` with its texts filled; what stands for nothing is left out of its object or list."""
        if isinstance(value, str):
            try:
                return templates.fill(templates.parse(value), self._named)
            except templates.Malformed:
                raise Refused(refusal.token_not_fetched("its declaration has a template that is none")) from None
        if isinstance(value, Mapping):
            return {name: found for name, each in value.items() if (found := self.of(each)) is not ABSENT}
        if isinstance(value, list | tuple):
            return [found for each in value if (found := self.of(each)) is not ABSENT]
        return value

    def _named(self, name: Name) -> Any:
        if name.store is None:
            return None
        rest = ".".join(name.parts[1:])
        return Mixed((Hole(rest),)) if name.store == "secrets" else self.env.get(rest)


def _pairs(body: Any) -> dict[str, Any]:
    if not isinstance(body, Mapping):
        raise Refused(refusal.token_not_fetched("the body of its login must be an object"))
    found = {name: [text for _, text in styles.pairs(name, value, Style.REPEAT)] for name, value in body.items()}
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in found.items() if texts}


def _text(value: Any) -> Text:
    return value if isinstance(value, Mixed) else templates.text(value)


def _holes(value: Any) -> Iterator[str]:
    if isinstance(value, Mixed):
        yield from (each.name for each in value.pieces if isinstance(each, Hole))
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _holes(each)
