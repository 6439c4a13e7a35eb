"""The answer to a call whose write has an outcome that nobody knows: none, so that the call is made again."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

from ferryman.domain.calls.call import ToolCall
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.objects import MemoryObjects
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.tools.files.answering import answer_call
from ferryman.tools.files.file_call import FileCall
from ferryman.tools.files.workspace_files import WorkspaceFiles

WRITE = ToolCall(id="c", name="file_write", arguments={"key": "a.md", "content": "hello", "content_type": "text/plain"})


class Bucket(MemoryObjects):
    """A bucket that stores, and then raises `fault`, or never answers."""

    def __init__(self, fault: Exception | None, *, stores: bool = True) -> None:
        super().__init__(ManualClock())
        self._fault, self._stores = fault, stores

    async def put(self, key: str, content: bytes, **about: Any) -> str:
        version = await super().put(key, content, **about) if self._stores else ""
        if self._fault is not None:
            raise self._fault
        await asyncio.Event().wait()
        return version


async def ask(bucket: MemoryObjects, *, within_s: float = 10) -> dict[str, Any]:
    call = FileCall(files=WorkspaceFiles(bucket), workspace="w", write="e.0")
    return await answer_call(call, WRITE, UUID(int=0), within_s=within_s)


async def test_a_write_whose_answer_was_lost_is_not_said_to_have_failed() -> None:
    with pytest.raises(UnavailableError):
        await ask(Bucket(UnavailableError("gone", lost=True)))


async def test_a_write_that_was_not_answered_in_time_is_not_said_to_have_failed() -> None:
    with pytest.raises(UnavailableError):
        await ask(Bucket(None), within_s=0)


@pytest.mark.parametrize("fault", [UnavailableError("away"), RejectedError("no")])
async def test_a_write_that_stored_nothing_has_failed(fault: Exception) -> None:
    answer = await ask(Bucket(fault, stores=False))
    assert (answer["code"], answer["about"]) == ("function_failed", {"writes": [], "read": "untrusted"})


async def test_the_call_that_is_made_again_finds_what_it_has_stored() -> None:
    bucket = Bucket(UnavailableError("gone", lost=True))
    with pytest.raises(UnavailableError):
        await ask(bucket)
    assert (await ask(bucket))["about"] == {"writes": [["e.0", 0, 5]], "read": "untrusted"}
