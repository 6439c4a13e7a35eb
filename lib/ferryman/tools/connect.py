"""Connecting: a person's consent becomes a credential; code, verifier and tokens are seen in here and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferryman.domain import grant as rules
from ferryman.domain import oauth
from ferryman.domain.connection import CODE, Connection, Unconnected
from ferryman.domain.credential import CREDENTIALS_PER_TASK_MAX, Credential, Grant, Sealed, Secret
from ferryman.ports import Stale, Unavailable
from ferryman.tools.exchange import Client, exchange

if TYPE_CHECKING:
    from ferryman.tools.carry import ToolHouse

ATTEMPTS = 3
"""How often a credential is stored when another version of it gets in between."""


async def finish(house: ToolHouse, *, task: str, owner: str, digest: str, code: str, version: int) -> str:
    """Exchange `code` for a token, store it sealed to key `version`, and answer the credential's name.

    The connection is used up by this, whatever comes of it. Raises `Unconnected` with what the owner may be told, and
    `Unavailable`.
    """
    connection = await house.connections.take(task, digest)
    now = house.clock.now()
    if connection is None or connection.expires_at <= now:
        raise Unconnected("there is no such connection: it was used already, or 10 minutes have passed; connect again")
    label = connection.label
    if (label.owner, label.task) != (owner, task):
        raise Unconnected("the connection does not open; connect again")  # moved here from where it belongs
    if not CODE.fullmatch(code):
        raise Unconnected("the code is not one: at most 2048 printable ASCII characters; connect again")
    proof = await house.vault.proof(connection)
    stored = {each.label.name: each for each in await house.credentials.list(task)}
    if label.name not in stored and len(stored) >= CREDENTIALS_PER_TASK_MAX:
        raise Unconnected(f"a task may have at most {CREDENTIALS_PER_TASK_MAX} credentials")
    client = Client(
        token_url=connection.token_url,
        client_id=connection.client_id,
        client_secret=proof.client_secret,
        creds_location=connection.creds_location,
    )
    form: dict[str, str | Secret] = {
        "grant_type": "authorization_code",
        "code": Secret(code),
        "redirect_uri": connection.redirect_uri,
        "code_verifier": proof.verifier,
    }
    try:
        answer = await exchange(house, label, client, form)
    except oauth.Unusable as unusable:
        house.tracer.line("credential.not_connected", task=task, credential=label.name, error=unusable.error)
        raise Unconnected(f"{unusable}; connect again") from None
    grant = Grant(
        token_url=connection.token_url,
        client_id=connection.client_id,
        client_secret=proof.client_secret,
        creds_location=connection.creds_location,
        refresh_token=answer.refresh_token,
        scopes=rules.narrowed(connection.scopes, answer),
        expires_at=rules.expiry(answer, now),
    )
    await _store(house, connection, Credential(label=label, secret=answer.access_token, grant=grant), version)
    house.tracer.line("credential.connected", task=task, credential=label.name, renewable=grant.refresh_token is not None)
    return label.name


async def _store(house: ToolHouse, connection: Connection, credential: Credential, version: int) -> None:
    task, name = connection.label.task, connection.label.name
    assert credential.grant is not None, "what is connected has a grant"
    for _ in range(ATTEMPTS):
        before = next((each for each in await house.credentials.list(task) if each.label.name == name), None)
        label = replace(connection.label, version=await house.credentials.next_version(task, name))
        try:
            ciphertext = await house.vault.granted(replace(credential, label=label), version=version)
        except KeyError:
            raise Unavailable(f"there is no version {version} of the sealing key") from None
        now = house.clock.now()
        sealed = Sealed(
            label=label,
            ciphertext=ciphertext,
            key_version=version,
            created_at=now if before is None else before.created_at,
            updated_at=now,
            grant=rules.visible(credential.grant),
        )
        try:
            await house.credentials.put(sealed)
            return
        except Stale:
            continue
    raise Unconnected("the task is gone, or the credential was stored by somebody else meanwhile; connect again")
