"""What goes on of a call is kept sealed: to the key holders, to its execution and to that call."""

from __future__ import annotations

import pytest

from ferryman.domain.calls.continuation import Continuation
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.vault.seal import PublicKey, UnsealError, build_coverage_info, derive_public_key, generate_private_key
from ferryman.vault.vault import Vault

PRIVATE = {1: generate_private_key(), 2: generate_private_key()}
VAULT = Vault(MemoryKeyStore(PRIVATE))
PUBLIC = PublicKey(2, derive_public_key(PRIVATE[2]))
ARGUMENTS = PUBLIC.seal(b"{}", b"arguments")
GOES_ON = Continuation(server="mcp_1", fingerprint="f", work="task-1")


async def seal() -> bytes:
    return await VAULT.seal_continuation(GOES_ON, execution="exec_1", seq=3, like=ARGUMENTS)


async def test_it_opens_as_it_was_sealed() -> None:
    assert await VAULT.open_continuation(await seal(), execution="exec_1", seq=3) == GOES_ON


@pytest.mark.parametrize(("execution", "seq"), [("exec_2", 3), ("exec_1", 4)])
async def test_that_of_another_call_does_not_open(execution: str, seq: int) -> None:
    with pytest.raises(UnsealError):
        await VAULT.open_continuation(await seal(), execution=execution, seq=seq)


async def test_it_tells_nothing_to_a_reader_of_the_store() -> None:
    assert b"task-1" not in await seal()


async def test_a_changed_one_does_not_open() -> None:
    stored = bytearray(await seal())
    stored[-1] ^= 1
    with pytest.raises(UnsealError):
        await VAULT.open_continuation(bytes(stored), execution="exec_1", seq=3)


async def test_what_was_sealed_for_something_else_does_not_open() -> None:
    with pytest.raises(UnsealError):
        await VAULT.open_continuation(PUBLIC.seal(b"{}", build_coverage_info("exec_1")), execution="exec_1", seq=3)
