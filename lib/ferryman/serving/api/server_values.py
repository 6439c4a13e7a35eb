"""The values of an MCP server's headers: read from a request, checked, and sealed as credentials of the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import SecretStr

from ferryman.composition.api import ApiDependencies
from ferryman.domain.credentials.credential import AuthType, Label, SealedCredential, find_name_problems
from ferryman.domain.http.url import parse_url
from ferryman.domain.problem import Problem
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth
from ferryman.domain.remote_servers.server_problems import (
    AUTHORIZATION,
    BEARER_NAME,
    find_auth_problems,
    find_header_problems,
    name_credentials,
)

BEARER = "Bearer "


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerValues:
    """How requests to a server are authenticated: `headers` name credentials by header, and `values` are theirs, by name."""

    auth: ServerAuth
    headers: Mapping[str, str] = field(repr=False)
    values: Mapping[str, tuple[str, str]] = field(repr=False)
    problems: tuple[Problem, ...] = ()


def read_values(
    headers: Mapping[str, SecretStr], names: Mapping[str, str], *, auth: ServerAuth | None, token: SecretStr | None = None
) -> ServerValues:
    """Return the values of `headers`, stored under `names` by header, and of a `token`; with the problems of all of them.

    Without `auth` it follows from the headers: `Authorization: Bearer …` is a token, which is kept without that word, so that
    it is recognized wherever it appears.
    """
    values, names = {header: value.get_secret_value() for header, value in headers.items()}, dict(names)
    bare_token, token_name = None if token is None else token.get_secret_value(), BEARER_NAME
    if auth is None:
        auth = ServerAuth.HEADERS if values else ServerAuth.NONE
        bearer = next((header for header in values if _is_bearer(header, values[header])), None)
        if bearer is not None:
            auth, bare_token = ServerAuth.BEARER, values.pop(bearer)[len(BEARER) :].strip()
            token_name = names.pop(bearer, BEARER_NAME)
    problems = [*find_auth_problems(auth, bare_token, values), *find_header_problems(values, names)]
    problems += [replace(problem, field="credentials") for problem in find_name_problems(token_name)]
    named = name_credentials(values, names)
    by_name = {name: (header, values[header]) for header, name in named.items()}
    if bare_token is not None:
        named[AUTHORIZATION], by_name[token_name] = token_name, (AUTHORIZATION, bare_token)
    return ServerValues(auth=auth, headers=named, values=by_name, problems=tuple(problems))


async def seal_values(deps: ApiDependencies, server: RemoteServer, values: Mapping[str, tuple[str, str]]) -> None:
    """Seal the values of headers, by the names of their credentials, to be sent to the host of the server alone."""
    now = deps.clock.now()
    for name, (header, value) in values.items():
        is_bearer = server.auth is ServerAuth.BEARER and header == AUTHORIZATION
        label = Label(
            owner=server.owner,
            task=server.id,
            name=name,
            version=await deps.server_credentials.next_version(server.id, name),
            service=server.id,
            auth_type=AuthType.BEARER if is_bearer else AuthType.HEADER,
            auth_header_name=None if is_bearer else header,
            hosts=(parse_url(server.url).host,),
        )
        sealed = SealedCredential(
            label=label,
            ciphertext=deps.sealer.seal(value.encode(), deps.info(label)),
            key_version=deps.sealer.version,
            created_at=now,
            updated_at=now,
        )
        await deps.server_credentials.put(sealed)


async def delete_unnamed(deps: ApiDependencies, before: RemoteServer, after: RemoteServer) -> None:
    """Delete the credentials that headers of the server no longer name; they are scanned for, for a day."""
    for name in set(before.headers.values()) - set(after.headers.values()):
        await deps.server_credentials.delete(after.id, name, now=deps.clock.now())


def _is_bearer(header: str, value: str) -> bool:
    return header.lower() == AUTHORIZATION.lower() and value[: len(BEARER)].lower() == BEARER.lower()
