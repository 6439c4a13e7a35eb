"""Keys for purposes: another one for each, from the valid versions of one secret, and none that decisions are signed with."""

from __future__ import annotations

import pytest

from ferryman.ports.errors import DisabledKeyError, UnavailableError
from ferryman.ports.keys import KeyPurpose
from ferryman.vault.decision_keys import derive_signing_key
from ferryman.vault.purpose_keys import DerivedPurposeKeys, derive_purpose_key

SECRETS = {number: bytes([number]) * 32 for number in range(1, 4)}


class Versions:
    """`ports.PrivateKeys`: the versions of the secret; the first is disabled."""

    async def private(self, version: int) -> bytes:
        if version == 1:
            raise DisabledKeyError("version 1 is disabled")
        return SECRETS[version]


def test_a_key_is_of_one_purpose_and_of_one_secret() -> None:
    derived = {derive_purpose_key(secret, purpose) for secret in SECRETS.values() for purpose in KeyPurpose}
    assert (len(derived), {len(key) for key in derived}) == (len(SECRETS) * len(KeyPurpose), {32})


def test_no_purpose_has_the_seed_of_the_key_of_decisions() -> None:
    for purpose in KeyPurpose:
        assert derive_signing_key(1, SECRETS[1]).public != derive_signing_key(1, derive_purpose_key(SECRETS[1], purpose)).public


async def test_the_two_newest_versions_are_valid_the_newest_first() -> None:
    keys = await DerivedPurposeKeys(Versions(), (1, 2, 3)).list(KeyPurpose.SESSIONS)
    assert list(keys) == [3, 2]
    assert keys[3] == derive_purpose_key(SECRETS[3], KeyPurpose.SESSIONS)


async def test_a_version_that_is_gone_or_disabled_is_left_out() -> None:
    assert list(await DerivedPurposeKeys(Versions(), (1, 2)).list(KeyPurpose.SESSIONS)) == [2]
    with pytest.raises(UnavailableError):
        await DerivedPurposeKeys(Versions(), (1, 9)).list(KeyPurpose.SESSIONS)


def test_a_secret_of_another_length_gives_no_key() -> None:
    with pytest.raises(ValueError, match="must be 32 bytes"):
        derive_purpose_key(b"short", KeyPurpose.SESSIONS)
