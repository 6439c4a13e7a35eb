"""Sealing: anyone may seal, only the private key opens, and nothing opens that was changed, moved or re-aimed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType, Label, SealedCredential
from ferryman.vault.seal import (
    PrivateKey,
    PublicKey,
    UnsealError,
    build_call_info,
    build_credential_info,
    derive_public_key,
    format_public_key,
    generate_private_key,
    read_key_version,
)
from ferryman.vault.vault import Vault

PRIVATE = generate_private_key()
KEY = PublicKey(3, derive_public_key(PRIVATE))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LABEL = Label(
    owner="o1",
    task="t1",
    name="NEWS_KEY",
    version=2,
    service="news",
    auth_type=AuthType.HEADER,
    auth_header_name="X-Api-Key",
    hosts=("api.news.test", "*.news.test"),
)
CHANGES = {
    "owner": "o2",
    "task": "t2",
    "name": "OTHER",
    "version": 1,
    "service": "other",
    "auth_type": AuthType.BEARER,
    "auth_header_name": "X-Other",
    "auth_param_name": "key",
    "hosts": ("api.news.test", "evil.test"),
}


class Keys:
    """The private keys by version."""

    async def private(self, version: int) -> bytes:
        return {3: PRIVATE}[version]


def seal(value: bytes = b"a-secret-of-16-chars", label: Label = LABEL) -> SealedCredential:
    return SealedCredential(
        label=label, ciphertext=KEY.seal(value, build_credential_info(label)), key_version=3, created_at=NOW, updated_at=NOW
    )


def test_what_was_sealed_opens_with_the_private_key() -> None:
    assert PrivateKey(PRIVATE).unseal(KEY.seal(b"value", b"info"), b"info") == b"value"


def test_two_sealings_of_the_same_value_differ() -> None:
    assert KEY.seal(b"value", b"info") != KEY.seal(b"value", b"info")


def test_the_ciphertext_says_which_key_version_opens_it() -> None:
    assert read_key_version(KEY.seal(b"value", b"info")) == 3


def test_another_private_key_does_not_open_it() -> None:
    with pytest.raises(UnsealError):
        PrivateKey(generate_private_key()).unseal(KEY.seal(b"value", b"info"), b"info")


def test_a_public_key_survives_its_text() -> None:
    again = PublicKey.parse(format_public_key(3, derive_public_key(PRIVATE)))
    assert again.version == 3
    assert PrivateKey(PRIVATE).unseal(again.seal(b"v", b"i"), b"i") == b"v"


@pytest.mark.parametrize("text", ["", "3", "3:", "x:AAAA", "-1:AAAA", "0:" + "A" * 8, "3:not base64!", "3:AAAA", "٣:AAAA"])
def test_a_text_that_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        PublicKey.parse(text)


@given(position=st.integers(0, 1_140), bit=st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_a_ciphertext_with_any_bit_changed_does_not_open(position: int, bit: int) -> None:
    ciphertext = bytearray(KEY.seal(b"value", b"info"))
    ciphertext[position] ^= 1 << bit
    with pytest.raises(UnsealError):
        PrivateKey(PRIVATE).unseal(bytes(ciphertext), b"info")


@given(length=st.integers(0, 1_140))
@settings(max_examples=40, deadline=None)
def test_a_truncated_ciphertext_does_not_open(length: int) -> None:
    with pytest.raises(UnsealError):
        PrivateKey(PRIVATE).unseal(KEY.seal(b"value", b"info")[:length], b"info")


@pytest.mark.parametrize("field", CHANGES)
async def test_a_credential_moved_renamed_rolled_back_or_re_aimed_does_not_open(field: str) -> None:
    moved = replace(seal(), label=replace(LABEL, **{field: CHANGES[field]}))
    with pytest.raises(CallRefusedError) as refused:
        await Vault(Keys()).open_credential(moved)
    assert refused.value.refusal.reason == "credential_unreadable"


def test_the_info_of_a_credential_holds_every_field_of_its_label() -> None:
    assert all(
        build_credential_info(replace(LABEL, **{slot: CHANGES[slot]})) != build_credential_info(LABEL)
        for slot in LABEL.__slots__
    )


async def test_an_opened_credential_has_its_value_and_its_label() -> None:
    credential = await Vault(Keys()).open_credential(seal())
    assert (credential.secret.reveal(), credential.label) == ("a-secret-of-16-chars", LABEL)


async def test_a_credential_whose_key_version_is_gone_or_false_is_refused() -> None:
    for version in (3, 4):
        other = PublicKey(4, derive_public_key(PRIVATE)).seal(b"a-secret-of-16-chars", build_credential_info(LABEL))
        with pytest.raises(CallRefusedError):
            await Vault(Keys()).open_credential(replace(seal(), ciphertext=other, key_version=version))


async def test_a_refused_credential_shows_nothing_of_its_value() -> None:
    with pytest.raises(CallRefusedError) as refused:
        await Vault(Keys()).open_credential(seal("ключ-not-ascii-secret".encode()))
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


async def test_arguments_open_for_their_own_call_only() -> None:
    ciphertext = KEY.seal(b'{"url": "https://a.test/"}', build_call_info("e1", 4))
    vault = Vault(Keys())
    assert await vault.open_arguments(ciphertext, execution="e1", seq=4) == {"url": "https://a.test/"}
    for execution, seq in (("e1", 5), ("e2", 4)):
        with pytest.raises(UnsealError):
            await vault.open_arguments(ciphertext, execution=execution, seq=seq)


@pytest.mark.parametrize("content", [b"", b"[]", b"nonsense", b"[" * 200_000, b"\xff"])
async def test_arguments_that_are_no_json_object_do_not_open(content: bytes) -> None:
    with pytest.raises(UnsealError):
        await Vault(Keys()).open_arguments(KEY.seal(content, build_call_info("e1", 0)), execution="e1", seq=0)
