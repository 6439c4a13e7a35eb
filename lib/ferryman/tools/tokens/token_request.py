"""Token requests: the request of an auth block, filled like that of any declared tool."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.declared import auth as logins
from ferryman.declared import request as declared
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.allowlist import check_url
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.request import BodyType, list_placeholder_names
from ferryman.domain.tools.declared import Auth, ClientCredentials, DeclaredTool, Exchange
from ferryman.tools.tokens.client import OAUTH_HEADERS, TokenRequest, authenticate_client
from ferryman.tools.tokens.dependencies import TokenNeed


def build_token_request(need: TokenNeed) -> TokenRequest:
    """Return the request for a token. Raise `CallRefusedError`, also where another execution may send it and this one may not.

    A token goes no further than the credentials it is exchanged for: each must be bound to the tool's own host, too.
    """
    auth, policy = need.auth, need.policy
    network = find_tool(need.outbound.tool).policy.network
    hosts = [check_url(network, url, policy).host for url in (need.outbound.url, logins.get_token_url(auth)[0])]
    login = _login(auth)
    tool = DeclaredTool(
        name=need.outbound.tool,
        method=login.method,
        url=login.url,
        headers=login.headers,
        body_type=login.body_type,
        body=login.body,
    )
    outbound = declared.build_request(tool, {}, state={}, env=need.env)
    used = find_used((outbound.fixed_headers, outbound.query_params, outbound.body), hosts, need.credentials)
    request = TokenRequest(
        outbound=outbound,
        credentials=need.credentials,
        used=used,
        task=policy.task if used else "",
        extract=None if isinstance(auth, ClientCredentials) else auth.extract,
    )
    return authenticate_client(request, auth.creds_location, policy) if isinstance(auth, ClientCredentials) else request


def _login(auth: Auth) -> Exchange:
    if not isinstance(auth, ClientCredentials):
        return auth.request
    client = {"client_id": auth.client_id, "client_secret": auth.client_secret}
    scope = {} if auth.scope is None else {"scope": auth.scope}
    form = {"grant_type": "client_credentials", **scope, **client}
    return Exchange(url=auth.token_url, headers=OAUTH_HEADERS, body_type=BodyType.FORM, body=form)


def find_used(value: Any, hosts: Collection[str], credentials: Mapping[str, Credential]) -> dict[str, Credential]:
    """Return the credentials in `value` by name.

    Raise `CallRefusedError` for one that is missing, or may not be sent to each of `hosts`.
    """
    used = {}
    for name in sorted(list_placeholder_names(value)):
        credential = credentials.get(name)
        if credential is None:
            raise CallRefusedError(refusal.refuse_unknown_credential(name))
        for host in hosts:
            if not is_covered(credential.label.hosts, host):
                raise CallRefusedError(refusal.refuse_credential_for_host(name, host))
        used[name] = credential
    return used
