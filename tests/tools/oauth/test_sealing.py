"""A grant opens as a grant, under its own label, and nothing of it leaves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential, Grant, GrantStatus, SealedCredential, Secret
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.egress.leaks import SecretScanner, redact_text
from ferryman.inmemory.clock import START
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.vault import seal
from ferryman.vault.vault import Vault
from tests.builders import build_label

PRIVATE = {1: seal.generate_private_key(), 2: seal.generate_private_key()}
VAULT = Vault(MemoryKeyStore(PRIVATE))
ACCESS, REFRESH, CLIENT = "access-4kQ9wE2rT7yU1iO3", "refresh-7tQ1wE2rT9yU4iO8", "client-2bQ9wE2rX7yU1iO3"
LABEL = build_label()
CREDENTIAL = Credential(
    label=LABEL,
    secret=Secret(ACCESS),
    grant=Grant(
        token_url="https://a.test/token",
        client_id="c",
        client_secret=Secret(CLIENT),
        refresh_token=Secret(REFRESH),
        scopes=("read",),
        expires_at=START + timedelta(hours=1),
    ),
)


async def seal_credential(version: int = 1) -> SealedCredential:
    ciphertext = await VAULT.seal_grant(CREDENTIAL, version=version)
    granted = GrantStatus(scopes=("read",), token_expires_at=START)
    return SealedCredential(
        label=LABEL, ciphertext=ciphertext, key_version=version, created_at=START, updated_at=START, grant=granted
    )


def reveal(credential: Credential) -> tuple[str | None, ...]:
    grant = credential.grant
    assert grant is not None
    secrets = (credential.secret, grant.refresh_token, grant.client_secret)
    return (
        *(item and item.reveal() for item in secrets),
        grant.token_url,
        grant.client_id,
        *grant.scopes,
        str(grant.expires_at),
    )


async def test_a_grant_opens_with_all_that_was_sealed() -> None:
    assert reveal(await VAULT.open_credential(await seal_credential())) == reveal(CREDENTIAL)


async def test_a_grant_that_is_resealed_stays_one() -> None:
    again = await VAULT.reseal(await seal_credential(), version=2)
    assert again.key_version == 2
    assert reveal(await VAULT.open_credential(again)) == reveal(CREDENTIAL)


async def test_a_grant_does_not_open_as_a_value() -> None:
    with pytest.raises(CallRefusedError):
        await VAULT.open_credential(replace(await seal_credential(), grant=None))


async def test_a_value_does_not_open_as_a_grant_whatever_it_reads_like() -> None:
    public = seal.PublicKey(1, seal.derive_public_key(PRIVATE[1]))
    sealed = replace(
        await seal_credential(), ciphertext=public.seal(seal.encode_grant(CREDENTIAL), seal.build_credential_info(LABEL))
    )
    with pytest.raises(CallRefusedError):
        await VAULT.open_credential(sealed)


@pytest.mark.parametrize("change", [{"task": "u"}, {"version": 2}, {"name": "L"}, {"hosts": ("evil.test",)}])
async def test_a_grant_under_another_label_does_not_open(change: dict[str, object]) -> None:
    whole = await seal_credential()
    with pytest.raises(CallRefusedError):
        await VAULT.open_credential(replace(whole, label=replace(LABEL, **change)))  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", [ACCESS, REFRESH, CLIENT])
def test_no_part_of_a_grant_leaves_or_is_shown(secret: str) -> None:
    scanner = SecretScanner([CREDENTIAL])
    outbound = OutboundRequest(tool="http_get", method=Method.GET, url=f"https://a.test/?q={secret[::-1]}")
    assert scanner.find_in_request(outbound) is not None
    assert redact_text(f"it is {secret}", scanner) == "it is [redacted:K]"
