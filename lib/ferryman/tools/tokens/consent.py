"""Consent: redeem a person's consent for a credential; only this function sees code, verifier and tokens."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ferryman.domain.credentials import grant as rules
from ferryman.domain.credentials.connection import CODE, Connection, NotConnectedError, check_issuer
from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, Credential, Grant, Secret
from ferryman.domain.credentials.oauth import TokenResponseError
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.stale import StaleError
from ferryman.ports.connections import Connections
from ferryman.ports.errors import UnavailableError
from ferryman.tools.tokens.dependencies import GrantDependencies
from ferryman.tools.tokens.grants import find_sealed, request_grant, seal_grant

ATTEMPTS = 3
"""How often storing a credential is tried against concurrent versions of it."""


async def redeem_code(
    deps: GrantDependencies, *, task: str, owner: str, digest: str, code: str, iss: str | None, version: int
) -> str:
    """Exchange `code` for a token, store it sealed to key `version`, and return the credential's name.

    `iss` is the issuer that the authorization response named, None where it named none. This uses up the connection, whatever
    the result is. Raise `NotConnectedError` with a message for the owner, and `UnavailableError`.
    """
    now = deps.clock.now()
    connection = await take_connection(deps.connections, task=task, owner=owner, digest=digest, code=code, now=now)
    return (await redeem(deps, connection, code=code, iss=iss, version=version)).name


async def take_connection(
    connections: Connections, *, task: str, owner: str, digest: str, code: str, now: datetime
) -> Connection:
    """Return the consent that `code` is of, and use it up. Raise `NotConnectedError`."""
    connection = await connections.take(task, digest)
    if connection is None or connection.expires_at <= now:
        raise NotConnectedError("there is no such connection: it was used already, or 10 minutes have passed; connect again")
    label = connection.label
    if (label.owner, label.task) != (owner, task):
        raise NotConnectedError("the connection does not open; connect again")  # moved here from where it belongs
    if not CODE.fullmatch(code):
        raise NotConnectedError("the code is not one: at most 2048 printable ASCII characters; connect again")
    return connection


async def redeem(
    deps: GrantDependencies,
    connection: Connection,
    *,
    code: str,
    iss: str | None,
    version: int,
    most: int = CREDENTIALS_PER_TASK_MAX,
    holder: str = "a task",
) -> Credential:
    """Exchange `code` for the token of a consent that was taken; store it sealed to key `version`, and return it, open.

    `holder` may have `most` credentials. Raise as `redeem_code` does.
    """
    label, now = connection.label, deps.clock.now()
    service = deps.integrations.get(label.service)
    if service is not None and service.oauth is not None:  # where it was removed, nothing is sent
        try:
            check_issuer(service.oauth, iss)
        except NotConnectedError:
            deps.tracer.line(
                "credential.not_connected", task=label.task, credential=label.name, error="iss", severity="WARNING"
            )
            raise
    proof = await deps.vault.open_proof(connection)
    stored = {sealed.label.name for sealed in await deps.credentials.list(label.task)}
    if label.name not in stored and len(stored) >= most:
        raise NotConnectedError(f"{holder} may have at most {most} credentials")
    grant = Grant(
        token_url=connection.token_url,
        client_id=connection.client_id,
        client_secret=proof.client_secret,
        creds_location=connection.creds_location,
        scopes=connection.scopes,
        issuer=connection.issuer,
        resource=connection.resource,
    )
    form: dict[str, str | Secret] = {
        "grant_type": "authorization_code",
        "code": Secret(code),
        "redirect_uri": connection.redirect_uri,
        "code_verifier": proof.verifier,
    }
    try:
        response = await request_grant(deps, label, grant, form)
    except TokenResponseError as error:
        deps.tracer.line("credential.not_connected", task=label.task, credential=label.name, error=error.error)
        raise NotConnectedError(f"{error}; connect again") from None
    grant = rules.apply_response(grant, response, now)
    credential = Credential(label=label, secret=response.access_token, grant=grant)
    await _store(deps, credential, version, most)
    deps.tracer.line("credential.connected", task=label.task, credential=label.name, renewable=grant.refresh_token is not None)
    return credential


async def _store(deps: GrantDependencies, credential: Credential, version: int, most: int) -> None:
    for _ in range(ATTEMPTS):
        before = await find_sealed(deps, credential.label)
        assert credential.grant is not None, "a consent has a grant"
        label = replace(credential.label, version=await deps.credentials.next_version(credential.label.task, credential.name))
        grant = replace(credential.grant, consented=label.version)
        try:
            sealed = await seal_grant(
                deps,
                replace(credential, label=label, grant=grant),
                version=version,
                created_at=before.created_at if before else None,
            )
            await deps.credentials.put(sealed, most=most)
            return
        except KeyError:
            raise UnavailableError(f"there is no version {version} of the sealing key") from None
        except LimitReachedError as full:
            raise NotConnectedError(str(full)) from None
        except StaleError:
            continue
    raise NotConnectedError("it is gone, or the credential was stored by somebody else meanwhile; connect again")
