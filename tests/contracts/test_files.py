"""Files of workspaces: on every kind of bucket, and asked of the function that may use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from functions_framework import aio

from ferryman.domain.files.object import ABSENT, ObjectChangedError, ObjectMissingError
from ferryman.domain.files.writes import FILE_BYTES_MAX, READ_BYTES_MAX, StoredWrite
from ferryman.domain.problem import InvalidInputError
from ferryman.gcp.functions import FunctionClient
from ferryman.gcp.http import HttpClient
from ferryman.gcp.remote_files import RemoteFiles
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.objects import MemoryObjects
from ferryman.ports.errors import UnavailableError
from ferryman.ports.files import Files
from ferryman.serving import files as serving
from ferryman.tools.files.workspace_files import WorkspaceFiles
from tests.serving.function_double import CALLER, FunctionDouble

from .buckets import KINDS, run_bucket

TEXT = "text/plain; charset=utf-8"
W, OTHER = "w", "w2"
REMOTE = "remote"


@asynccontextmanager
async def ask_function(files: WorkspaceFiles, *, direct_links: bool = True) -> AsyncIterator[Files]:
    """Serve files as the function does, and ask it as its callers do."""
    double = FunctionDouble()
    function: Any = SimpleNamespace(
        callers=double, tracer=double.tracer, files=files, uploads=asyncio.Semaphore(1), direct_links=direct_links
    )
    app = aio._create_asgi_app_with_function(serving.serve(lambda _: function), "http", False)
    wire = HttpClient(local=True)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as wire._client:

        async def get_token(_: str) -> str:
            return CALLER

        yield RemoteFiles(FunctionClient(wire, {"files": "http://files.test"}, get_token))


@pytest.fixture(params=[*KINDS, REMOTE])
async def files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Files]:
    """The files of an empty bucket of each kind, and those of one in memory by the function that serves it."""
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["Bearer {CALLER}"]')
    async with run_bucket("memory" if request.param == REMOTE else request.param) as objects:
        if request.param != REMOTE:
            yield WorkspaceFiles(objects)
            return
        async with ask_function(WorkspaceFiles(objects)) as remote:
            yield remote


async def write(files: Files, key: str = "a.md", content: bytes = b"x", name: str = "exec_1.0", **more: Any) -> Any:
    return await files.write(W, key, content, content_type=TEXT, write=name, **more)


async def list_keys(files: Files, prefix: str = "", workspace: str = W) -> list[str]:
    return [entry.key for entry in (await files.list(workspace, prefix)).entries]


async def test_a_file_is_written_and_read_under_its_cleaned_key(files: Files) -> None:
    done = await write(files, "/drafts//../Zürich ☂.md", b"hello")
    assert (done.key, done.is_new) == ("drafts/Zürich ☂.md", True)
    part = await files.read(W, "drafts/Zürich ☂.md", start=1, size=3, version=done.version)
    assert (part.content, part.size_bytes, part.content_type, part.end) == (b"ell", 5, TEXT, 4)
    stored = await files.head(W, "drafts/Zürich ☂.md")
    assert stored is not None
    assert (stored.key, stored.size_bytes, stored.version, stored.metadata) == ("drafts/Zürich ☂.md", 5, done.version, {})
    assert await list_keys(files, "drafts/") == ["drafts/Zürich ☂.md"]


async def test_a_file_of_another_workspace_is_not_there(files: Files) -> None:
    await write(files)
    for key in ("a.md", "../w/a.md", "workspaces/w/a.md", "..\\w\\a.md"):
        assert await files.head(OTHER, key) is None
        with pytest.raises(ObjectMissingError):
            await files.read(OTHER, key)
    assert await list_keys(files, workspace=OTHER) == await list_keys(files, "../w/", workspace=OTHER) == []


async def test_a_write_that_comes_twice_happens_once_and_answers_the_same(files: Files) -> None:
    first = await write(files, content=b"one")
    assert await write(files, content=b"one") == first
    second = await write(files, content=b"three", name="exec_2.0")
    assert second.writes == (StoredWrite(name="exec_2.0", old_bytes=3, new_bytes=5), *first.writes)
    # the first one comes again after it was written over
    again = await write(files, content=b"one")
    assert (again.version, again.writes) == ("", first.writes)
    assert (await files.read(W, "a.md")).content == b"three"


async def test_a_write_of_an_expected_version_stores_over_no_other(files: Files) -> None:
    done = await write(files, expected=ABSENT)
    for expected in (ABSENT, "123"):
        with pytest.raises(ObjectChangedError):
            await write(files, name="exec_2.0", expected=expected)
    assert await write(files, expected=ABSENT) == done
    assert (await write(files, name="exec_3.0", content=b"new", expected=done.version)).writes[0].old_bytes == 1


async def test_a_deleted_file_is_gone_at_once_and_its_bytes_are_told_as_often_as_it_is_asked(files: Files) -> None:
    await write(files, content=b"12345")
    await write(files, "b.md", name="exec_1.1")
    deleted = await files.delete(W, "a.md", write="del")
    assert deleted is not None
    assert deleted.writes[0] == StoredWrite(name="del", old_bytes=5, new_bytes=0)
    assert await files.delete(W, "a.md", write="del") == deleted
    assert (await files.head(W, "a.md"), await list_keys(files)) == (None, ["b.md"])
    with pytest.raises(ObjectMissingError):
        await files.read(W, "a.md")
    # another deletion finds what the first has left, and tells of both
    other = await files.delete(W, "a.md", write="del-2")
    assert other is not None
    assert [(write.name, write.old_bytes) for write in other.writes[:2]] == [("del-2", 0), ("del", 5)]
    await files.purge(W, "a.md", version=deleted.version)
    assert await files.delete(W, "a.md", write="del-3") is None


async def test_what_is_left_of_a_deleted_file_is_listed_beside_the_files_until_it_is_purged(files: Files) -> None:
    for key in ("a.md", "b.md", "c.md"):
        await write(files, key, b"x" * 77, f"put.{key[0]}")
    deleted = await files.delete(W, "b.md", write="del")
    assert deleted is not None
    page = await files.list(W, "")
    assert ([entry.key for entry in page.entries], page.deleted) == (["a.md", "c.md"], ("b.md",))
    await files.purge(W, "b.md", version=deleted.version)
    assert (await files.list(W, "")).deleted == ()


async def test_what_is_written_in_the_place_of_a_deleted_file_stays(files: Files) -> None:
    await write(files, content=b"12345")
    deleted = await files.delete(W, "a.md", write="del")
    assert deleted is not None
    done = await write(files, name="exec_2.0", content=b"12", expected=ABSENT)
    assert [write.name for write in done.writes] == ["exec_2.0", "del", "exec_1.0"]
    await files.purge(W, "a.md", version=deleted.version)
    await files.purge(W, "a.md", version=done.version)
    assert (await files.read(W, "a.md")).content == b"12"


async def test_a_deletion_of_another_version_deletes_nothing(files: Files) -> None:
    await write(files)
    with pytest.raises(ObjectChangedError):
        await files.delete(W, "a.md", write="del", version="123")
    assert await list_keys(files) == ["a.md"]


async def test_a_file_as_long_as_what_a_deletion_leaves_is_listed(files: Files) -> None:
    await write(files, content=b"x" * 77)
    assert await list_keys(files) == ["a.md"]


async def test_a_list_goes_on_at_its_cursor(files: Files) -> None:
    for number in range(3):
        await write(files, f"{number}.md", name=f"exec_1.{number}")
    first = await files.list(W, "", most=2)
    rest = await files.list(W, "", most=2, cursor=first.cursor)
    assert [entry.key for entry in (*first.entries, *rest.entries)] == ["0.md", "1.md", "2.md"]
    assert rest.cursor is None


async def test_what_cannot_be_is_refused_by_the_name_of_its_field(files: Files) -> None:
    for field, attempt in {
        "key": files.head(W, "../.."),
        "content_type": files.write(W, "a", b"x", content_type="text/plain\r\nx-y: z", write="a"),
        "cursor": files.list(W, "", cursor="%%%"),
        "most": files.list(W, "", most=0),
        "start": files.read(W, "a", start=0, size=READ_BYTES_MAX + 1),
        "content": files.write(W, "a", bytes(FILE_BYTES_MAX + 1), content_type=TEXT, write="a"),
    }.items():
        with pytest.raises(InvalidInputError, match=field):
            await attempt
    with pytest.raises(InvalidInputError, match="deleted files"):
        await files.write(W, "a", b"x", content_type="application/vnd.ferryman.deleted; a=b", write="a")


async def test_a_file_is_linked_to_in_its_own_workspace_alone(files: Files) -> None:
    done = await write(files, "a b.md")
    link = await files.link(W, "a b.md", lifetime=timedelta(seconds=60))
    assert (link.version, "/workspaces/w/a%20b.md?" in link.url) == (done.version, True)
    for key in ("a b.md", "../w/a b.md", "workspaces/w/a b.md"):
        with pytest.raises(ObjectMissingError):
            await files.link(OTHER, key, lifetime=timedelta(seconds=60))


async def test_the_function_links_to_nothing_unless_the_operator_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["Bearer {CALLER}"]')
    async with ask_function(WorkspaceFiles(MemoryObjects(ManualClock())), direct_links=False) as files:
        await write(files)
        with pytest.raises(ObjectMissingError):
            await files.link(W, "a.md", lifetime=timedelta(seconds=60))


async def test_what_is_left_of_a_deleted_file_is_not_linked_to(files: Files) -> None:
    await write(files)
    await files.delete(W, "a.md", write="del")
    with pytest.raises(ObjectMissingError):
        await files.link(W, "a.md", lifetime=timedelta(seconds=60))


async def test_no_file_is_linked_to_for_longer_than_a_quarter_of_an_hour(files: Files) -> None:
    await write(files)
    for seconds in (0, 901, -1):
        with pytest.raises(ValueError, match="900"):
            await files.link(W, "a.md", lifetime=timedelta(seconds=seconds))


async def test_of_writers_of_one_file_at_once_each_happens_once(files: Files) -> None:
    async def attempt(number: int) -> Any:
        while True:
            try:
                return await write(files, content=b"x" * (number + 1), name=f"exec_{number}.0")
            except UnavailableError:  # others were faster: the same write comes again
                await asyncio.sleep(0)

    done = await asyncio.gather(*map(attempt, range(8)))
    sizes = [result.writes[0] for result in done]
    stored = await files.head(W, "a.md")
    assert stored is not None
    assert stored.size_bytes == sum(write.new_bytes - write.old_bytes for write in sizes)
