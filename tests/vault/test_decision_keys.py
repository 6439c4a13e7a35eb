"""The key for decisions: derived from the api's secret, and used only while its public half is published."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ferryman.ports.errors import UnavailableError
from ferryman.vault.decision_keys import (
    DecisionSigning,
    derive_decision_public_key,
    derive_signing_key,
    generate_secret,
    select_valid,
)

SECRET = bytes(range(32))
PUBLIC = derive_decision_public_key(SECRET)


class Keys:
    """`ports.PrivateKeys` of these versions."""

    def __init__(self, versions: dict[int, bytes]) -> None:
        self.versions = versions

    async def private(self, version: int) -> bytes:
        return self.versions[version]


def test_the_key_of_a_secret_is_always_the_same() -> None:
    # HKDF-SHA256 (RFC 5869) without a salt, info "ferryman decisions 1", then Ed25519 (RFC 8032)
    assert PUBLIC.hex() == "0336d5c6aa33421d8af33161bc97a24620a3ae769c4aea3a80369bc27118f8aa"


def test_a_secret_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        derive_signing_key(1, SECRET[:31])


def test_the_secret_itself_signs_nothing() -> None:
    signature = derive_signing_key(1, SECRET).sign(b"m")
    derived = Ed25519PublicKey.from_public_bytes(PUBLIC)
    derived.verify(signature, b"m")
    with pytest.raises(InvalidSignature):
        derived.verify(signature, b"n")


async def test_the_newest_published_version_signs() -> None:
    newer = generate_secret()
    keys = Keys({1: SECRET, 2: newer})
    before = await DecisionSigning(keys, {1: PUBLIC}).key()
    after = await DecisionSigning(keys, {1: PUBLIC, 2: derive_decision_public_key(newer)}).key()
    assert (before.version, before.public, after.version) == (1, PUBLIC, 2)


@pytest.mark.parametrize("public", [{}, {1: bytes(32)}, {2: PUBLIC}])
async def test_what_is_not_published_signs_nothing(public: dict[int, bytes]) -> None:
    with pytest.raises(UnavailableError):
        await DecisionSigning(Keys({1: SECRET}), public).key()


def test_two_versions_are_valid() -> None:
    assert select_valid([3, 1, 2]) == [2, 3]
