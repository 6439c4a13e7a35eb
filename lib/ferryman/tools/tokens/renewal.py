"""Single-flight renewal: renew a token that is about to expire before it is used, once, however many need it.

The tool function that opened the credential renews it: each of them has the unsealing key and sends through the gate, so that
calling another function would take one more permission and remove none.

The instance that renews claims a lease on the credential's document; the others wait for the next version. A refresh token that
is issued only once is lost when the instance dies between its service's answer and the write: the next attempt is answered
with invalid_grant, and the credential has to be connected again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from uuid import uuid4

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials import grant as rules
from ferryman.domain.credentials.credential import Credential, Label, SealedCredential, Secret
from ferryman.domain.credentials.oauth import TokenResponseError
from ferryman.ports.errors import UnavailableError
from ferryman.tools.tokens.dependencies import GrantDependencies
from ferryman.tools.tokens.grants import find_sealed, request_grant, seal_grant

POLL_S = 0.25
POLLS_MAX = 50
"""How often a renewal by another instance is polled for, every `POLL_S` seconds: a little longer than its lease lasts."""

ATTEMPTS = 3


async def renew_expiring(
    deps: GrantDependencies, credentials: Mapping[str, Credential], *, names: Iterable[str], services: Collection[str]
) -> dict[str, Credential]:
    """Return `credentials`, where those of `names` that are about to expire are renewed, if `services` has theirs.

    Raise `CallRefusedError` for one that has expired and cannot be renewed, and `UnavailableError`.
    """
    after = dict(credentials)
    for name in names:
        credential = after.get(name)
        if credential is not None and credential.label.service in services:
            after[name] = await _renew_if_due(deps, credential)
    return after


async def _renew_if_due(deps: GrantDependencies, credential: Credential) -> Credential:
    if not rules.is_due(credential.grant, deps.clock.now()):
        return credential
    holder = uuid4().hex
    pause = min(POLL_S, deps.poll_interval.total_seconds())
    for _ in range(POLLS_MAX):
        sealed = await _find_sealed(deps, credential.label)
        if sealed.label.version != credential.label.version:
            credential = await _open_newer(deps, sealed)
            if rules.is_usable(credential.grant, deps.clock.now()):
                return credential
        if sealed.grant is None or sealed.grant.reconnect:
            return _use_as_it_is(deps, credential, refusal.refuse_until_reconnected(credential.name))
        claimed = rules.claim_renewal(sealed, holder, deps.clock.now())
        if claimed is not None and await deps.credentials.swap(sealed, claimed):
            return await _renew(deps, credential, claimed)
        await asyncio.sleep(pause)
    return _use_as_it_is(deps, credential, refusal.refuse_until_renewed(credential.name))


async def _renew(deps: GrantDependencies, credential: Credential, claimed: SealedCredential) -> Credential:
    grant, now = credential.grant, deps.clock.now()
    assert grant is not None, "only a grant is claimed"
    about = {"task": credential.label.task, "credential": credential.name}
    try:
        if grant.refresh_token is None:
            raise TokenResponseError("the service gave no refresh token", error="invalid_grant")
        form: dict[str, str | Secret] = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
        response = await request_grant(deps, credential.label, grant, form)
    except TokenResponseError as error:
        await deps.credentials.swap(claimed, rules.release_renewal(claimed, reconnect=error.final))
        deps.tracer.line("credential.not_renewed", severity="WARNING", error=error.error, final=error.final, **about)
        reason = refusal.refuse_until_reconnected if error.final else refusal.refuse_until_renewed
        return _use_as_it_is(deps, credential, reason(credential.name))
    after = Credential(
        label=replace(credential.label, version=credential.label.version + 1),
        secret=response.access_token,
        grant=rules.apply_response(grant, response, now),
    )
    await _store(deps, claimed, after)
    deps.tracer.line("credential.renewed", version=after.label.version, **about)
    return after


async def _store(deps: GrantDependencies, claimed: SealedCredential, after: Credential) -> None:
    """Store token and refresh token in one write, sealed to the key that the last version is sealed to by now.

    A refresh token that was just issued is nowhere else: where the store does not answer, it is written once more, unless it
    was stored after all.
    """
    written, silent = set[bytes](), None
    for _ in range(ATTEMPTS):
        sealed = await seal_grant(deps, after, version=claimed.key_version, created_at=claimed.created_at)
        written.add(sealed.ciphertext)
        try:
            if await deps.credentials.swap(claimed, sealed):
                return
            current = await _find_sealed(deps, claimed.label)
        except UnavailableError as fault:
            silent = fault
            await asyncio.sleep(min(POLL_S, deps.poll_interval.total_seconds()))
            continue
        if current.ciphertext in written:
            return
        if (current.label, current.grant) != (claimed.label, claimed.grant):
            break
        claimed = current
    raise silent or UnavailableError("a credential was stored while it was renewed")


async def _find_sealed(deps: GrantDependencies, label: Label) -> SealedCredential:
    sealed = await find_sealed(deps, label)
    if sealed is None:
        raise CallRefusedError(refusal.refuse_unknown_credential(label.name))
    return sealed


async def _open_newer(deps: GrantDependencies, sealed: SealedCredential) -> Credential:
    label = sealed.label
    if label.version != await deps.credentials.next_version(label.task, label.name) - 1:
        raise UnavailableError("a credential was stored while this was read")
    return await deps.vault.open_credential(sealed)


def _use_as_it_is(deps: GrantDependencies, credential: Credential, reason: refusal.Refusal) -> Credential:
    """Return the credential as long as its token lasts. Raise `CallRefusedError` after that."""
    if rules.is_usable(credential.grant, deps.clock.now()):
        return credential
    raise CallRefusedError(reason)
