"""The credentials of an MCP server: opened for its calls, renewed at the token endpoint that discovery pinned, and placed.

They go to the server's own URL and nowhere else. No tool of a task can name one; every call of the server is scanned for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType, Credential
from ferryman.domain.credentials.integration import Integration
from ferryman.domain.http.request import SecretPlaceholder, Template, Text
from ferryman.domain.http.url import parse_url
from ferryman.domain.remote_servers.authorization import TOKEN_NAME, ServerAuthorization, is_resource_of
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth
from ferryman.domain.remote_servers.server_problems import AUTHORIZATION
from ferryman.tools.execute_call import ToolDependencies, open_all
from ferryman.tools.known_secrets import make_scan_only
from ferryman.tools.tokens.dependencies import GrantDependencies
from ferryman.tools.tokens.renewal import renew_expiring


async def open_server_credentials(
    deps: ToolDependencies, server: RemoteServer, versions: Mapping[str, int]
) -> dict[str, Credential]:
    """Return the open credentials and former values of `server`, of which those may be sent to it that are meant for it.

    `versions` are the present ones (`Credentials.read_versions`). Raise `CallRefusedError` for one that does not open, and
    `UnavailableError`.
    """
    assert deps.server_credentials is not None, "a function that calls MCP servers has their credentials"
    opened = await open_all(deps, deps.server_credentials, server.id, versions)
    return {name: narrow_to_server(credential, server) for name, credential in opened.items()}


async def renew_token(
    deps: ToolDependencies, server: RemoteServer, credentials: Mapping[str, Credential]
) -> dict[str, Credential]:
    """Return `credentials`, the token renewed where it is about to expire; the former one is scanned for beside it.

    Raise `CallRefusedError` where the server has to be connected again, and `UnavailableError`.
    """
    if server.auth is not ServerAuth.OAUTH:
        return dict(credentials)
    if server.authorization is None or TOKEN_NAME not in credentials:
        raise CallRefusedError(refusal.refuse_unconnected_server(server.name))
    grants = build_grant_dependencies(deps, server.id, server.authorization)
    after = await renew_expiring(grants, credentials, names=[TOKEN_NAME], services=[server.id])
    if after[TOKEN_NAME] is credentials[TOKEN_NAME]:
        return after
    narrowed = narrow_to_server(after[TOKEN_NAME], server)
    return {**after, TOKEN_NAME: narrowed, **make_scan_only(credentials[TOKEN_NAME])}


def place_credentials(server: RemoteServer) -> dict[str, Text]:
    """Return the headers that authenticate requests to `server`, with placeholders for the values."""
    names = dict(server.headers)
    if server.auth is ServerAuth.OAUTH:
        names[AUTHORIZATION] = TOKEN_NAME
    is_token = server.auth in (ServerAuth.OAUTH, ServerAuth.BEARER)
    return {
        header: Template((*(("Bearer ",) if is_token and header == AUTHORIZATION else ()), SecretPlaceholder(name)))
        for header, name in names.items()
    }


def list_placed(server: RemoteServer) -> list[str]:
    """Return the names of the credentials that requests to `server` have, the one of `Authorization` first."""
    token = [TOKEN_NAME] if server.auth is ServerAuth.OAUTH else []
    return [*token, *(name for _, name in sorted(server.headers.items()))]


def narrow_to_server(credential: Credential, server: RemoteServer) -> Credential:
    """Return `credential` with the server's host where it is meant for its present URL; with no host otherwise.

    A token is meant for the resource that it was issued for, by the issuer that the server was connected with.
    """
    label, grant, host = credential.label, credential.grant, parse_url(server.url).host
    is_meant = label.hosts == (host,) and label.task == server.id
    if label.name == TOKEN_NAME:
        known = server.authorization
        is_meant &= known is not None and grant is not None and grant.issuer == known.issuer
        is_meant &= grant is not None and is_resource_of(grant.resource or "", server.url)
    return credential if is_meant else replace(credential, label=replace(label, hosts=()))


def build_grant_dependencies(deps: ToolDependencies, server: str, authorization: ServerAuthorization) -> GrantDependencies:
    """Return what redeems and renews the grants of a server: the one client of OAuth, and what was discovered."""
    assert deps.server_credentials is not None, "a function that calls MCP servers has their credentials"
    assert deps.server_connections is not None, "a function that calls MCP servers has their consents"
    service = Integration(
        id=server,
        name=server,
        description="",
        category="mcp",
        allowed_domains=(),
        default_auth_type=AuthType.BEARER,
        oauth=authorization.build_oauth(),
    )
    return GrantDependencies(
        credentials=deps.server_credentials,
        connections=deps.server_connections,
        vault=deps.vault,
        gate=deps.gate,
        integrations={server: service},
        clock=deps.clock,
        tracer=deps.tracer,
        poll_interval=deps.poll_interval,
    )
