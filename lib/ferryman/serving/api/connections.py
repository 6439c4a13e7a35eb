"""Connections over HTTP: a person's consent is begun here and finished by a key holder; no token passes through."""

from __future__ import annotations

import secrets
from dataclasses import replace

from fastapi import APIRouter

from ferryman.domain import connection as rules
from ferryman.domain import credential
from ferryman.domain.connection import Connection, Proof, Unconnected
from ferryman.domain.credential import AuthType, Label, Secret
from ferryman.domain.problem import Invalid, Problem
from ferryman.serving.api.asking import By, TheHouse, TheirTask
from ferryman.serving.api.faults import conflict
from ferryman.serving.api.shapes import credential as shapes

router = APIRouter(prefix="/v1/tasks/{task_id}/credentials/connect", tags=["credentials"])


@router.post("", summary="Begin to connect a service by its owner's consent")
async def begin(asked: shapes.NewConnection, task: TheirTask, house: TheHouse, owner: By) -> shapes.ConnectionShown:
    service = house.integrations.get(asked.service) if asked.service in task.integrations else None
    if service is None or service.oauth is None:
        known = [each for each in task.integrations if each in house.integrations and house.integrations[each].oauth]
        listed = ", ".join(known) or "it has none"
        raise Invalid([Problem(field="service", message=f"must be one of the task's that are connected by consent: {listed}")])
    oauth = service.oauth
    name = asked.name or service.credential_key_template or f"{service.id.upper()}_TOKEN"
    scopes = oauth.scopes if asked.scopes is None else asked.scopes
    client_id = asked.client_id or oauth.client_id
    found = credential.name_problems(name)
    found += rules.problems(oauth, redirect_uri=asked.redirect_uri, client_id=client_id, scopes=scopes)
    found += _secret_problems(asked)
    if found or client_id is None:
        raise Invalid(found)
    stored = {each.label.name for each in await house.credentials.list(task.id)}
    if name not in stored and len(stored) >= credential.CREDENTIALS_PER_TASK_MAX:
        raise conflict(f"a task may have at most {credential.CREDENTIALS_PER_TASK_MAX} credentials")
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    now = house.clock.now()
    begun = Connection(
        digest=rules.digest(state),
        label=Label(
            owner=owner.id,
            task=task.id,
            name=name,
            version=0,
            service=service.id,
            auth_type=AuthType.BEARER,
            hosts=service.allowed_domains,
        ),
        redirect_uri=asked.redirect_uri,
        token_url=oauth.token_url,
        client_id=client_id,
        creds_location=oauth.creds_location,
        scopes=scopes,
        expires_at=now + rules.LIFETIME,
    )
    client_secret = None if asked.client_secret is None else Secret(asked.client_secret.get_secret_value())
    proof = Proof(verifier=Secret(verifier), client_secret=client_secret)
    sealed = replace(begun, ciphertext=house.prove(begun, proof))
    await house.connections.put(sealed, now=now, most=rules.PER_TASK_MAX)
    url = rules.authorize_url(oauth, begun, state=state, verifier=verifier)
    return shapes.ConnectionShown(authorize_url=url, state=state, expires_at=begun.expires_at)


@router.post("/finish", summary="Finish to connect a service, with what its consent page led back with")
async def finish(asked: shapes.Consented, task: TheirTask, house: TheHouse, owner: By) -> shapes.CredentialShown:
    code = asked.code.get_secret_value()
    problems = []
    if not rules.STATE.fullmatch(asked.state):
        problems.append(Problem(field="state", message="must be the state that the connection was begun with"))
    if not rules.CODE.fullmatch(code):
        problems.append(Problem(field="code", message="must be 1 to 2048 printable ASCII characters"))
    if problems:
        raise Invalid(problems)
    digest = rules.digest(asked.state)
    try:
        name = await house.connector.finish(task.id, owner=owner.id, digest=digest, code=code, version=house.sealer.version)
    except Unconnected as unconnected:
        raise conflict(str(unconnected)) from None
    for each in await house.credentials.list(task.id):
        if each.label.name == name:
            return shapes.shown(each)
    raise conflict("the credential was deleted meanwhile")


def _secret_problems(asked: shapes.NewConnection) -> list[Problem]:
    if asked.client_secret is None:
        return []
    found = credential.value_problems(asked.client_secret.get_secret_value())
    return [replace(each, field="client_secret") for each in found]
