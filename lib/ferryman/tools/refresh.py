"""Refresh: a token that is about to expire is renewed before it is used: once, however many want it at the same time.

It is done in the very tool that opened the credential. Each of them holds the unsealing key and goes out through the gate, so
that asking another function would take one more permission and give none up.

Who renews claims it on the credential's document; the others wait for the next version. A refresh token that is handed out
once is lost when the instance dies between its service's answer and the write: the next attempt is told invalid_grant, and the
credential has to be connected again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from ferryman.domain import grant as rules
from ferryman.domain import oauth, refusal
from ferryman.domain.credential import Credential, Label, Sealed, Secret
from ferryman.domain.refusal import Refused
from ferryman.ports import Unavailable
from ferryman.tools.exchange import Client, exchange

if TYPE_CHECKING:
    from ferryman.tools.carry import ToolHouse

PAUSE_S = 0.25
LOOKS_MAX = 50
"""Another's renewal is waited for so many times `PAUSE_S`: a little longer than its claim lasts."""

ATTEMPTS = 3


async def fresh(
    house: ToolHouse, credentials: Mapping[str, Credential], *, names: Iterable[str], services: Collection[str]
) -> dict[str, Credential]:
    """`credentials`, where those of `names` that are about to expire are renewed, if `services` has theirs.

    Raises `Refused` for one that has expired and cannot be renewed, and `Unavailable`.
    """
    after = dict(credentials)
    for name in names:
        credential = after.get(name)
        if credential is not None and credential.label.service in services:
            after[name] = await _fresh(house, credential)
    return after


async def _fresh(house: ToolHouse, credential: Credential) -> Credential:
    if not rules.due(credential.grant, house.clock.now()):
        return credential
    holder = uuid4().hex
    pause = min(PAUSE_S, house.looks.total_seconds())
    for _ in range(LOOKS_MAX):
        sealed = await _stored(house, credential.label)
        if sealed.label.version != credential.label.version:
            credential = await _newer(house, sealed)
            if rules.usable(credential.grant, house.clock.now()):
                return credential
        if sealed.grant is None or sealed.grant.reconnect:
            return _as_it_is(house, credential, refusal.reconnect(credential.name))
        claimed = rules.taken(sealed, holder, house.clock.now())
        if claimed is not None and await house.credentials.swap(sealed, claimed):
            return await _renewed(house, credential, claimed)
        await asyncio.sleep(pause)
    return _as_it_is(house, credential, refusal.not_renewed(credential.name))


async def _renewed(house: ToolHouse, credential: Credential, claimed: Sealed) -> Credential:
    grant, now = credential.grant, house.clock.now()
    assert grant is not None, "only a grant is claimed"
    about = {"task": credential.label.task, "credential": credential.name}
    try:
        if grant.refresh_token is None:
            raise oauth.Unusable("the service gave no refresh token", error="invalid_grant")
        client = Client(
            token_url=grant.token_url,
            client_id=grant.client_id,
            client_secret=grant.client_secret,
            creds_location=grant.creds_location,
        )
        form: dict[str, str | Secret] = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
        answer = await exchange(house, credential.label, client, form)
    except oauth.Unusable as unusable:
        await house.credentials.swap(claimed, rules.given_back(claimed, reconnect=unusable.final))
        house.tracer.line("credential.not_renewed", severity="WARNING", error=unusable.error, final=unusable.final, **about)
        reason = refusal.reconnect if unusable.final else refusal.not_renewed
        return _as_it_is(house, credential, reason(credential.name))
    after = rules.renewed(credential, answer, now=now)
    await _store(house, claimed, after)
    house.tracer.line("credential.renewed", version=after.label.version, **about)
    return after


async def _store(house: ToolHouse, claimed: Sealed, after: Credential) -> None:
    """Store token and refresh token in one write, sealed to the key that the last version is sealed to by now.

    A refresh token that was just handed out is nowhere else: where the store does not answer, it is written once more, unless
    it turns out to be there.
    """
    assert after.grant is not None, "what is renewed has a grant"
    written, silent = set[bytes](), None
    for _ in range(ATTEMPTS):
        sealed = replace(
            claimed,
            label=after.label,
            ciphertext=await house.vault.granted(after, version=claimed.key_version),
            updated_at=house.clock.now(),
            grant=rules.visible(after.grant),
        )
        written.add(sealed.ciphertext)
        try:
            if await house.credentials.swap(claimed, sealed):
                return
            current = await _stored(house, claimed.label)
        except Unavailable as fault:
            silent = fault
            await asyncio.sleep(min(PAUSE_S, house.looks.total_seconds()))
            continue
        if current.ciphertext in written:
            return
        if (current.label, current.grant) != (claimed.label, claimed.grant):
            break
        claimed = current
    raise silent or Unavailable("a credential was stored while it was renewed")


async def _stored(house: ToolHouse, label: Label) -> Sealed:
    for each in await house.credentials.list(label.task):
        if each.label.name == label.name:
            return each
    raise Refused(refusal.credential_not_found(label.name))


async def _newer(house: ToolHouse, sealed: Sealed) -> Credential:
    label = sealed.label
    if label.version != await house.credentials.next_version(label.task, label.name) - 1:
        raise Unavailable("a credential was stored while this was read")
    return await house.vault.credential(sealed)


def _as_it_is(house: ToolHouse, credential: Credential, reason: refusal.Refusal) -> Credential:
    """The token as long as it lasts, or `Refused`."""
    if rules.usable(credential.grant, house.clock.now()):
        return credential
    raise Refused(reason)
