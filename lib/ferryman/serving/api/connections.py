"""Connections over HTTP: a person's consent is begun here and finished by a key holder; no token passes through."""

from __future__ import annotations

import secrets
from dataclasses import replace

from fastapi import APIRouter

from ferryman.domain.credentials import connection as rules
from ferryman.domain.credentials import credential
from ferryman.domain.credentials.connection import Connection, NotConnectedError, Proof
from ferryman.domain.credentials.credential import AuthType, Label, Secret
from ferryman.domain.credentials.value import find_value_problems
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.ports.connections import Connector
from ferryman.ports.server_connector import ServerConnector
from ferryman.serving.api.access import MANAGES, CurrentOwner, Dependencies, OwnedTask, name_services
from ferryman.serving.api.errors import ConflictError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.shapes import credential as shapes

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/tasks/{task_id}/credentials/connect", tags=["credentials"])


@router.post("", dependencies=[MANAGES], summary="Begin to connect a service by its owner's consent")
async def begin_connection(
    body: shapes.NewConnection, task: OwnedTask, deps: Dependencies, owner: CurrentOwner, once: Idempotency
) -> shapes.ConnectionResponse:
    service = deps.integrations.get(body.service) if body.service in task.integrations else None
    if service is None or service.oauth is None:
        listed = name_services(task, deps, "oauth")
        raise build_input_error("service", f"must be one of the task's that are connected by consent: {listed}")
    oauth = service.oauth
    name = body.name or service.credential_key_template or f"{service.id.upper()}_TOKEN"
    scopes = oauth.scopes if body.scopes is None else body.scopes
    client_id = body.client_id or oauth.client_id
    redirect_uri = body.redirect_uri or next(iter(oauth.redirect_uris), "")
    problems = credential.find_name_problems(name)
    problems += rules.find_connection_problems(oauth, redirect_uri=redirect_uri, client_id=client_id, scopes=scopes)
    client_secret = None if body.client_secret is None else Secret(body.client_secret.get_secret_value())
    if client_secret is not None:
        problems += [replace(problem, field="client_secret") for problem in find_value_problems(client_secret.reveal())]
    if problems or client_id is None:
        raise InvalidInputError(problems)
    stored = {sealed.label.name for sealed in await deps.credentials.list(task.id)}
    if name not in stored and len(stored) >= credential.CREDENTIALS_PER_TASK_MAX:
        raise ConflictError(f"a task may have at most {credential.CREDENTIALS_PER_TASK_MAX} credentials")
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    now = deps.clock.now()
    begun = Connection(
        digest=rules.digest_state(state),
        label=Label(
            owner=owner.id,
            task=task.id,
            name=name,
            version=0,
            service=service.id,
            auth_type=AuthType.BEARER,
            hosts=service.allowed_domains,
        ),
        redirect_uri=redirect_uri,
        token_url=oauth.token_url,
        client_id=client_id,
        creds_location=oauth.creds_location,
        scopes=scopes,
        expires_at=now + rules.LIFETIME,
    )
    sealed = replace(begun, ciphertext=deps.prove(begun, Proof(verifier=Secret(verifier), client_secret=client_secret)))
    url = rules.build_authorize_url(oauth, begun, state=state, verifier=verifier)
    response = shapes.ConnectionResponse(authorize_url=url, redirect_uri=redirect_uri, state=state, expires_at=begun.expires_at)
    await deps.connections.put(sealed, now=now, most=rules.PER_TASK_MAX, done=await once.complete(200, response))
    return response


@router.post("/finish", dependencies=[MANAGES], summary="Finish to connect a service, with what its consent page led back with")
async def finish_connection(
    body: shapes.ConsentAnswer, task: OwnedTask, deps: Dependencies, owner: CurrentOwner
) -> shapes.CredentialResponse:
    name = await redeem_consent(deps.connector, body, task.id, owner=owner.id, version=deps.sealer.version)
    for sealed in await deps.credentials.list(task.id):
        if sealed.label.name == name:
            return shapes.to_response(sealed)
    raise ConflictError("the credential was deleted meanwhile")


async def redeem_consent(
    connector: Connector | ServerConnector, body: shapes.ConsentAnswer, holder: str, *, owner: str, version: int
) -> str:
    """Have a key holder redeem a consent for a task or a server, `holder`; return the name of the credential that was stored.

    Raises `InvalidInputError` for an answer that no consent page gives, and `ConflictError` where nothing was connected.
    """
    code = body.code.get_secret_value()
    if problems := _find_answer_problems(body.state, code, body.iss):
        raise InvalidInputError(problems)
    digest = rules.digest_state(body.state)
    try:
        return await connector.finish(holder, owner=owner, digest=digest, code=code, iss=body.iss, version=version)
    except NotConnectedError as unconnected:
        raise ConflictError(str(unconnected)) from None


def _find_answer_problems(state: str, code: str, iss: str | None) -> list[Problem]:
    """Return the problems of what a consent page led back with."""
    problems = []
    if not rules.STATE.fullmatch(state):
        problems.append(Problem(field="state", message="must be the state that the connection was begun with"))
    if not rules.CODE.fullmatch(code):
        problems.append(Problem(field="code", message="must be 1 to 2048 printable ASCII characters"))
    if iss is not None and not rules.ISS.fullmatch(iss):
        problems.append(Problem(field="iss", message="must be 1 to 2048 visible ASCII characters"))
    return problems
