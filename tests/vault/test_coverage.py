"""What an execution has sent of its keys is kept sealed: to the key holders, and to that execution."""

from __future__ import annotations

import pytest

from ferryman.domain.credentials.coverage import NOTHING, Coverage
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.vault.seal import PublicKey, UnsealError, derive_public_key, generate_private_key, read_key_version
from ferryman.vault.vault import Vault

PRIVATE = {1: generate_private_key(), 2: generate_private_key()}
VAULT = Vault(MemoryKeyStore(PRIVATE))
ARGUMENTS = PublicKey(2, derive_public_key(PRIVATE[2])).seal(b"{}", b"arguments")
SENT = Coverage({"digest": 0b1011})


async def seal_coverage() -> bytes:
    return await VAULT.seal_coverage(SENT, execution="exec_1", like=ARGUMENTS)


async def test_it_opens_as_it_was_sealed() -> None:
    assert await VAULT.open_coverage(await seal_coverage(), execution="exec_1") == SENT


async def test_it_is_sealed_to_the_version_that_the_calls_arguments_are_sealed_to() -> None:
    assert read_key_version(await seal_coverage()) == 2


async def test_what_was_never_stored_is_nothing() -> None:
    assert await VAULT.open_coverage(b"", execution="exec_1") == NOTHING


async def test_it_tells_nothing_to_a_reader_of_the_store() -> None:
    stored = await seal_coverage()
    assert b"digest" not in stored
    assert stored != await seal_coverage()


async def test_that_of_another_execution_does_not_open() -> None:
    with pytest.raises(UnsealError):
        await VAULT.open_coverage(await seal_coverage(), execution="exec_2")


async def test_a_changed_one_does_not_open() -> None:
    stored = bytearray(await seal_coverage())
    stored[-1] ^= 1
    with pytest.raises(UnsealError):
        await VAULT.open_coverage(bytes(stored), execution="exec_1")


async def test_other_sealed_bytes_of_the_execution_are_no_coverage() -> None:
    with pytest.raises(UnsealError):
        await VAULT.open_coverage(ARGUMENTS, execution="exec_1")
