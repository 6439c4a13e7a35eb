"""The parsed private key stays in memory while the keys give it, and what was opened is forgotten when it is rotated."""

from __future__ import annotations

import pytest

from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.ports.errors import DisabledKeyError
from ferryman.vault import vault as module
from ferryman.vault.seal import PrivateKey, PublicKey, UnsealError, build_call_info, derive_public_key, generate_private_key
from ferryman.vault.vault import Vault

PRIVATES = {version: generate_private_key() for version in (1, 2)}
CALL = {"execution": "e", "seq": 0}


def seal(version: int) -> bytes:
    return PublicKey(version, derive_public_key(PRIVATES[version])).seal(b"{}", build_call_info("e", 0))


@pytest.fixture
def parsings(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the keys that were parsed so far."""
    seen: list[bytes] = []

    class RecordedKey(PrivateKey):
        def __init__(self, private: bytes) -> None:
            seen.append(private)
            super().__init__(private)

    monkeypatch.setattr(module, "PrivateKey", RecordedKey)
    return seen


async def test_a_key_is_parsed_once_for_many_calls(parsings: list[bytes]) -> None:
    vault = Vault(MemoryKeyStore(PRIVATES))
    for _ in range(5):
        await vault.open_arguments(seal(1), **CALL)
    assert parsings == [PRIVATES[1]]


async def test_a_key_that_is_disabled_opens_nothing_although_it_was_parsed() -> None:
    keys = MemoryKeyStore(PRIVATES)
    vault = Vault(keys)
    await vault.open_arguments(seal(1), **CALL)
    await keys.disable(1)
    with pytest.raises(DisabledKeyError):
        await vault.open_arguments(seal(1), **CALL)


async def test_another_key_under_the_same_number_is_parsed_as_itself() -> None:
    keys = MemoryKeyStore(dict(PRIVATES))
    vault = Vault(keys)
    await vault.open_arguments(seal(1), **CALL)
    keys.privates[1] = PRIVATES[2]
    with pytest.raises(UnsealError):
        await vault.open_arguments(seal(1), **CALL)


async def test_what_is_no_key_opens_nothing() -> None:
    with pytest.raises(UnsealError):
        await Vault(MemoryKeyStore({1: b"short"})).open_arguments(seal(1), **CALL)


async def test_a_later_version_tells_that_the_key_was_rotated_once() -> None:
    rotated: list[None] = []
    vault = Vault(MemoryKeyStore(PRIVATES), rotated=lambda: rotated.append(None))
    for version, times in ((1, 0), (1, 0), (2, 1), (2, 1), (1, 1)):
        await vault.open_arguments(seal(version), **CALL)
        assert len(rotated) == times


async def test_what_does_not_open_tells_of_no_rotation() -> None:
    rotated: list[None] = []
    vault = Vault(MemoryKeyStore(PRIVATES), rotated=lambda: rotated.append(None))
    await vault.open_arguments(seal(1), **CALL)
    with pytest.raises(UnsealError):
        await vault.open_arguments(seal(2)[:-1], **CALL)
    assert rotated == []
