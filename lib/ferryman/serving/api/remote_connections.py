"""Connections of MCP servers over HTTP: a key holder finds who authorizes, a person consents, and it redeems the consent."""

from __future__ import annotations

import secrets
from dataclasses import replace

from fastapi import APIRouter

from ferryman.domain.credentials import connection as rules
from ferryman.domain.credentials.connection import NotConnectedError, Proof
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.credentials.value import find_value_problems
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.remote_servers.client_document import locate_console_callback
from ferryman.domain.remote_servers.consenting import build_connection
from ferryman.serving.api.access import MANAGES, Dependencies
from ferryman.serving.api.agents import OwnedAgent
from ferryman.serving.api.connections import redeem_consent
from ferryman.serving.api.errors import ConflictError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.remote_servers import OwnedServer, find_server
from ferryman.serving.api.shapes.credential import ConsentAnswer
from ferryman.serving.api.shapes.server_connection import (
    ConnectedServer,
    NewServerConnection,
    ServerConnectionResponse,
    describe_connected,
)

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/agents/{agent_id}/mcp/{server_id}/connect", tags=["MCP servers"])


@router.post("", dependencies=[MANAGES], summary="Begin to connect an MCP server by its owner's consent")
async def begin_server_connection(
    body: NewServerConnection, server: OwnedServer, deps: Dependencies, once: Idempotency
) -> ServerConnectionResponse:
    secret = None if body.client_secret is None else Secret(body.client_secret.get_secret_value())
    if problems := _find_problems(body, secret, locate_console_callback(deps.client_document_url)):
        raise InvalidInputError(problems)
    try:
        prepared = await deps.server_connector.discover(
            server.id,
            owner=server.owner,
            redirect_uri=body.redirect_uri,
            client_id=body.client_id,
            has_secret=secret is not None,
            scopes=body.scopes,
            document_url=deps.client_document_url,
        )
    except NotConnectedError as unconnected:
        raise ConflictError(str(unconnected)) from None
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    now = deps.clock.now()
    begun = build_connection(server, prepared.authorization, redirect_uri=body.redirect_uri, state=state, now=now)
    proof = Proof(verifier=Secret(verifier), client_secret=secret or prepared.client_secret)
    sealed = replace(begun, ciphertext=deps.prove(begun, proof))
    authorization = prepared.authorization
    response = ServerConnectionResponse(
        authorize_url=rules.build_authorize_url(authorization.build_oauth(), begun, state=state, verifier=verifier),
        redirect_uri=body.redirect_uri,
        state=state,
        expires_at=begun.expires_at,
        issuer=authorization.issuer,
        resource=authorization.resource,
        client_id=authorization.client_id,
        scopes=authorization.scopes,
    )
    done = await once.complete(200, response)
    await deps.server_connections.put(sealed, now=now, most=rules.PER_TASK_MAX, done=done)
    return response


@router.post("/finish", dependencies=[MANAGES], summary="Finish to connect an MCP server")
async def finish_server_connection(
    body: ConsentAnswer, server: OwnedServer, agent: OwnedAgent, deps: Dependencies
) -> ConnectedServer:
    version = deps.sealer.version
    name = await redeem_consent(deps.server_connector, body, server.id, owner=server.owner, version=version)
    connected = await find_server(deps, agent, server.id)
    listed = await deps.server_credentials.list(server.id)
    grant = next((sealed.grant for sealed in listed if sealed.label.name == name), None)
    if grant is None or connected.authorization is None:
        raise ConflictError("the server was changed meanwhile; connect it again")
    return describe_connected(server.id, server.name, connected.authorization, grant.scopes, grant.token_expires_at)


def _find_problems(body: NewServerConnection, secret: Secret | None, callback: str) -> list[Problem]:
    problems = rules.find_scope_problems(body.scopes or ())
    if not rules.is_loopback(body.redirect_uri) and body.redirect_uri != (callback or None):
        place = f", or {callback}" if callback else ""
        problems.append(Problem("redirect_uri", f"must be http://127.0.0.1:PORT/… or http://[::1]:PORT/…{place}"))
    if body.client_id is not None and not rules.is_client_id(body.client_id):
        problems.append(Problem("client_id", "must be visible ASCII characters, at most 512"))
    if secret is not None:
        problems += [replace(problem, field="client_secret") for problem in find_value_problems(secret.reveal())]
        if body.client_id is None:
            problems.append(Problem("client_id", "is required beside client_secret, which is that client's"))
    return problems
