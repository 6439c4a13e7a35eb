"""What a person reads of a call of files: the file, and the version that it has when the call would be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.files.object import Object
from ferryman.ports.tickets import CallRequest, ClaimedCall
from ferryman.tools.files.hook import FileHook
from tests.builders import START, build_execution, build_policy, build_ticket


@dataclass
class OneFile:
    """A room whose files are one, of the version 7, which the write of the call has made or not."""

    is_written: bool = False

    @property
    def files(self) -> OneFile:
        return self

    async def head(self, workspace: str, key: str) -> Object | None:
        about: Any = {"size_bytes": 1, "version": "7", "updated_at": START, "content_type": "text/plain"}
        return Object(key=key, **about) if key == "a.txt" else None

    async def find(self, workspace: str, key: str, *, write: str) -> object | None:
        return object() if self.is_written else None


def claim(tool: str = "file_write", *, again: bool = False, **fields: Any) -> ClaimedCall:
    return ClaimedCall(
        call_request=CallRequest(execution="e", seq=0, epoch=1, task="t", owner="o"),
        ticket=build_ticket(tool=tool, **{"display_arguments": {"key": "a.txt", "content": "x"}, **fields}),
        policy=build_policy(),
        versions={},
        created=START,
        context=build_execution().context,
        again=again,
    )


def build_hook(**fields: Any) -> FileHook:
    return FileHook(room=OneFile(**fields))  # type: ignore[arg-type]


async def test_a_file_is_named_with_its_version() -> None:
    target = await build_hook().find_target(claim(), build_execution())
    assert (target.name, target.version, target.is_done) == ("a.txt", "7", False)


async def test_a_file_that_is_not_there_has_no_version() -> None:
    target = await build_hook().find_target(claim(display_arguments={"key": "b.txt", "content": "x"}), build_execution())
    assert (target.name, target.version) == ("b.txt", "")


async def test_what_an_earlier_attempt_wrote_is_done() -> None:
    assert (await build_hook(is_written=True).find_target(claim(again=True), build_execution())).is_done
    assert not (await build_hook(is_written=False).find_target(claim(again=True), build_execution())).is_done


async def test_a_write_with_a_gap_in_it_is_refused() -> None:
    with pytest.raises(CallRefusedError):
        await build_hook().find_target(claim(redacted=True), build_execution())
