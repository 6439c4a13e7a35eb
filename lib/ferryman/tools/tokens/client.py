"""The OAuth token client: asks for any token, of a declared tool's login, a consent or a renewal, and reads the answer."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote_plus

from ferryman import offload
from ferryman.declared import paths
from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.credentials.oauth import RESPONSE_BYTES_MAX, TokenResponse, TokenResponseError, read_token_response
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import InboundResponse, OutboundRequest, SecretPlaceholder, Template, Text
from ferryman.domain.http.url import parse_url
from ferryman.domain.tools.declared import Extract
from ferryman.ports.gate import CallPolicy, FetchGate

TOKEN = "token"  # noqa: S105 - a name, not one
"""The name of a fetched token. The names of owners are capitals: none is this one, nor `BASIC`."""

BASIC = "basic"
"""The name of a client's id and secret in one (RFC 7617)."""

OAUTH_HEADERS = {"Accept": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A token request, ready for the gate. `used` are the task's credentials that go into it, by name.

    `task` is the task that they belong to, "" where none go into it: such a token is the owner's.
    `credentials` are all that may be in it, or may be returned as the token. `extract` says where the token is in the answer
    of a login that is not OAuth.
    """

    outbound: OutboundRequest
    credentials: Mapping[str, Credential] = field(repr=False)
    used: Mapping[str, Credential] = field(default_factory=dict)
    task: str = ""
    extract: Extract | None = None

    @property
    def confidential(self) -> list[Credential]:
        """The credentials that must not be returned as the token; a login may return the same token as before."""
        return [credential for credential in self.credentials.values() if credential.name != TOKEN]


def bind_secret(name: str, secret: Secret, *, owner: str, task: str, hosts: tuple[str, ...] = ()) -> Credential:
    """Return a secret that is not a stored credential: it may go to `hosts` alone, and is scanned for like any other."""
    label = Label(owner=owner, task=task, name=name, version=1, service="", auth_type=AuthType.BEARER, hosts=hosts)
    return Credential(label=label, secret=secret)


def authenticate_client(request: TokenRequest, creds_location: str, policy: ExecutionPolicy) -> TokenRequest:
    """Return `request` with the client's id and secret in the basic header, where they belong there (RFC 6749, 2.3.1).

    They are in its form; those of a client without a secret, or with `creds_location` "body", stay there.
    """
    body, outbound = dict(request.outbound.body), request.outbound
    if creds_location != "basic_header" or "client_secret" not in body:
        return request
    # each is form-encoded, so that a colon in the id does not move the border between them
    pair = ":".join(quote_plus(_reveal(body.pop(name, ""), request.credentials)) for name in ("client_id", "client_secret"))
    encoded = Secret(base64.b64encode(pair.encode()).decode())
    basic = bind_secret(BASIC, encoded, owner=policy.owner, task=policy.task, hosts=(parse_url(outbound.url).host,))
    headers = {**outbound.fixed_headers, "Authorization": Template(("Basic ", SecretPlaceholder(BASIC)))}
    return replace(
        request,
        outbound=replace(outbound, fixed_headers=headers, body=body),
        credentials={**request.credentials, BASIC: basic},
    )


async def request_token(
    gate: FetchGate, request: TokenRequest, *, policy: ExecutionPolicy, within_s: float, now: datetime
) -> TokenResponse:
    """Return the answer to `request`, which is sent once: a code or a refresh token may be used up by a lost answer.

    Raises `CallRefusedError` where the gate does, and `TokenResponseError` for an answer without a token that may be used.
    """
    inbound = await gate.fetch(
        request.outbound,
        CallPolicy(execution=policy, credentials=request.credentials, within_s=within_s, body_max=RESPONSE_BYTES_MAX),
    )
    fields = None
    if request.extract is not None and 200 <= inbound.status < 300 and not inbound.cut:
        fields = await _find_in_worker(policy.owner, inbound, request.extract)
    sent = [credential.secret for credential in request.confidential]
    return read_token_response(inbound.status, inbound.body, now_s=now.timestamp(), cut=inbound.cut, sent=sent, fields=fields)


async def _find_in_worker(owner: str, inbound: InboundResponse, extract: Extract) -> Mapping[str, Any]:
    """Return `find_fields`, run in a worker: the owner wrote the path, and anyone the answer."""
    try:
        return await offload.run(owner, offload.TEXT, find_fields, inbound.body, extract)
    except (offload.OverBudgetError, offload.TooManyJobsError) as error:
        raise TokenResponseError(f"the token endpoint's answer could not be read: {error}") from None


def find_fields(body: bytes, extract: Extract) -> Mapping[str, Any]:
    """Return the token and its lifetime in a login's answer, by OAuth's names; nothing where there is none (S1-29)."""
    if extract.response_format == "text":
        return {"access_token": body.decode("latin-1").strip()}
    places = {"access_token": extract.token_path or "$", "expires_in": extract.expires_path}
    try:
        document = json.loads(body)
        return {name: paths.find(path, document) for name, path in places.items() if path is not None}
    except (ValueError, RecursionError):
        return {}


def _reveal(text: Text, credentials: Mapping[str, Credential]) -> str:
    pieces = text.pieces if isinstance(text, Template) else (text,)
    return "".join(piece if isinstance(piece, str) else credentials[piece.name].secret.reveal() for piece in pieces)
