"""Files of a workspace in an archive: each in one version or named, imported once, within the quota, and none over another."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.archives.reading import iterate_files, read_archive
from ferryman.catalog.tools import list_offered
from ferryman.domain.archives.file_lines import PART_BYTES
from ferryman.domain.archives.files import LINES_MAX
from ferryman.domain.archives.lines import ArchiveError, write_line
from ferryman.domain.archives.manifest import Manifest
from ferryman.domain.files.keys import clean_key
from ferryman.domain.files.object import Object, ObjectSlice
from ferryman.domain.files.quota import SETTLED_LIFETIME, FileQuota
from ferryman.domain.files.writes import FILE_BYTES_MAX
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.objects import MemoryObjects
from ferryman.serving.archived_files import FileCheck
from ferryman.serving.exporting import WorkspaceExport
from ferryman.serving.importing.storing_files import list_names
from ferryman.tools.files.workspace_files import WorkspaceFiles

from .conftest import Stage, create_app
from .importing import IMPORTS, Files, describe, describe_file, import_archive, read_values, send_files, take_apart
from .test_export import export

HOME = derive_default_workspace("ann")
FIRST = "files-000001.jsonl"
TEXT = "text/plain; charset=utf-8"
LARGE = bytes(range(256)) * (2 * PART_BYTES // 256) + b"end"
Contents = Mapping[str, tuple[bytes, str]]


async def keep(stage: Stage, contents: Contents) -> None:
    """Have these files, and no other, in ann's workspace."""
    stage.objects._objects.clear()
    for number, (key, (content, content_type)) in enumerate(contents.items()):
        await stage.files.write(HOME, key, content, content_type=content_type, write=f"test.{number}")


async def read_all(stage: Stage, workspace: str) -> dict[str, tuple[bytes, str]]:
    """Return what the files of a workspace are."""
    stored = stage.objects._objects
    prefix = f"workspaces/{workspace}/"
    return {key[len(prefix) :]: (data, file.content_type) for key, (file, data) in stored.items() if key.startswith(prefix)}


def write_file(key: str, content: bytes = b"Hello.", **members: Any) -> list[dict[str, Any]]:
    """Return the lines of a file in one part, whose first line has these members."""
    about = {"key": key, "content_type": TEXT, "size_bytes": len(content), "updated_at": "2026-11-23T09:00:00Z"}
    part = {"kind": "part", "content": base64.b64encode(content).decode()}
    end = {"kind": "end", "key": key, "sha256": hashlib.sha256(content).hexdigest()}
    return [{"kind": "file", **about, **members}, *([part] if content else []), end]


def forge(archive: bytes, *pieces: list[dict[str, Any]], **begins: Any) -> tuple[dict[str, Any], Files]:
    """Return an archive whose files of the workspace have these lines, one list for each file of the archive."""
    about, files = take_apart(archive)
    lines = [line for piece in pieces for line in piece]
    ends = [line for line in lines if line.get("kind") == "end"]
    sizes = sum(line["size_bytes"] for line in lines if line.get("kind") == "file" and type(line["size_bytes"]) is int)
    forged = {f"files-{number:06}.jsonl": b"".join(map(write_line, piece)) for number, piece in enumerate(pieces, 1)}
    at = [*files].index(FIRST)
    rest = [*files.items()]
    files = dict([*rest[:at], *forged.items(), *rest[at + 1 :]])
    about |= {"counts": {**about["counts"], "files": len(ends)}, "file_bytes": max(0, sizes), **begins}
    return describe(about, files), files


@pytest.fixture
async def archive(client: httpx.AsyncClient, stage: Stage) -> bytes:
    """Ann's workspace, which has one file."""
    return await export(stage, "ann")


@pytest.fixture
async def bob(client: httpx.AsyncClient, archive: bytes, stage: Stage) -> httpx.AsyncClient:
    """Answer the client as bob, who has nothing yet."""
    client.headers.update(stage.owner("bob"))
    return client


async def begin(client: httpx.AsyncClient, begins: dict[str, Any]) -> str:
    begun = await client.post(IMPORTS, json=begins)
    assert begun.status_code == 201, begun.text
    return str(begun.json()["workspace_id"])


async def test_an_archive_tells_key_type_size_time_and_sha256_of_each_file(client: httpx.AsyncClient, stage: Stage) -> None:
    await keep(stage, {"b/large": (LARGE, "application/octet-stream"), "a.md": (b"", TEXT)})
    archive = await export(stage, "ann")
    lines = read_values(take_apart(archive)[1], "files")
    assert [line["kind"] for line in lines] == ["file", "end", "file", "part", "part", "part", "end"]
    assert lines[2] == {
        "kind": "file",
        "key": "b/large",
        "content_type": "application/octet-stream",
        "size_bytes": len(LARGE),
        "updated_at": "2026-01-01T00:00:00Z",
    } | {"updated_at": lines[2]["updated_at"]}
    assert lines[6]["sha256"] == hashlib.sha256(LARGE).hexdigest()
    manifest = read_archive(io.BytesIO(archive))
    assert (manifest.counts["files"], manifest.file_bytes, manifest.files_left_out) == (2, len(LARGE), 0)


CONTENTS = st.dictionaries(
    st.text(max_size=12).filter(lambda text: _can_be_key(text)).map(clean_key),
    st.tuples(st.binary(max_size=40), st.sampled_from([TEXT, "image/png", "application/json"])),
    max_size=6,
)


def _can_be_key(text: str) -> bool:
    try:
        return bool(clean_key(text))
    except InvalidInputError:
        return False


@settings(max_examples=15, deadline=None)
@given(CONTENTS)
def test_what_is_imported_is_what_was_exported_and_the_quota_counts_it(contents: Contents) -> None:
    async def run() -> None:
        stage = Stage()
        app = create_app(stage.deps())
        headers = stage.owner("ann")
        await keep(stage, contents)
        archive = await export(stage, "ann")
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=headers) as client:
            client.headers.update(stage.owner("bob"))
            workspace = await import_archive(client, archive)
        assert await read_all(stage, workspace) == dict(contents)
        quota = stage.memory.file_quotas.get(workspace, FileQuota(id=workspace))
        assert (quota.used_bytes, quota.reserved_bytes) == (sum(len(content) for content, _ in contents.values()), 0)

    asyncio.run(run())


async def test_a_file_of_several_parts_grows_to_what_it_was(bob: httpx.AsyncClient, stage: Stage) -> None:
    await keep(stage, {"large": (LARGE, TEXT), "z": (b"z", TEXT)})
    workspace = await import_archive(bob, await export(stage, "ann"))
    assert await read_all(stage, workspace) == {"large": (LARGE, TEXT), "z": (b"z", TEXT)}
    quota = stage.memory.file_quotas[workspace]
    assert (quota.used_bytes, quota.reserved_bytes) == (len(LARGE) + 1, 0)


class ChangingObjects(MemoryObjects):
    """A bucket in which a file is replaced, or deleted, before the read that begins at byte `at`, `often` times."""

    at = 0
    often = 0
    deletes = False

    async def get(self, key: str, *, start: int = 0, size: int, version: str | None = None) -> ObjectSlice:
        if start == self.at and self.often and key.endswith("large"):
            self.often -= 1
            file, content = self._objects[key]
            if self.deletes:
                del self._objects[key]
            else:
                self._objects[key] = (replace(file, version=f"other-{self.often}"), content[::-1])
        return await super().get(key, start=start, size=size, version=version)


async def export_changing(stage: Stage, *, at: int, often: int, deletes: bool = False) -> tuple[Manifest, bytes]:
    """Return what is exported while a file of more than one part changes."""
    objects = ChangingObjects(stage.clock)
    objects._objects = stage.objects._objects
    stage.files = WorkspaceFiles(objects)
    await keep(stage, {"large": (LARGE, TEXT), "z": (b"z", TEXT)})
    objects.at, objects.often, objects.deletes = at, often, deletes
    archive = await export(stage, "ann")
    return read_archive(io.BytesIO(archive)), archive


async def test_a_file_that_changes_before_its_first_part_is_exported_in_its_new_version(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    manifest, archive = await export_changing(stage, at=0, often=1)
    assert (manifest.counts["files"], manifest.files_left_out) == (2, 0)
    ends = [line for line in read_values(take_apart(archive)[1], "files") if line["kind"] == "end"]
    assert ends[0]["sha256"] == hashlib.sha256(LARGE[::-1]).hexdigest()


@pytest.mark.parametrize(("at", "often"), [(0, 99), (PART_BYTES, 1), (2 * PART_BYTES, 1)])
async def test_a_file_that_changes_while_it_is_read_is_named(
    client: httpx.AsyncClient, stage: Stage, at: int, often: int
) -> None:
    manifest, archive = await export_changing(stage, at=at, often=often)
    assert (manifest.counts["files"], manifest.file_bytes, manifest.files_left_out) == (1, 1, 1)
    sentences: list[str] = []
    check = FileCheck(sentences.append)
    for line in read_values(take_apart(archive)[1], "files"):
        check.read("", line)
    assert sentences == ["large: NOT IN THE ARCHIVE: it was changed or deleted while it was read."]


@pytest.mark.parametrize("deletes", [False, True])
async def test_nothing_is_imported_of_a_file_that_changed_half_way(
    client: httpx.AsyncClient, stage: Stage, deletes: bool
) -> None:
    _, archive = await export_changing(stage, at=2 * PART_BYTES, often=1, deletes=deletes)
    client.headers.update(stage.owner("bob"))
    workspace = await import_archive(client, archive)
    assert await read_all(stage, workspace) == {"z": (b"z", TEXT)}
    quota = stage.memory.file_quotas[workspace]
    assert (quota.used_bytes, quota.reserved_bytes) == (1, 0)


@pytest.mark.parametrize(
    ("key", "size", "content_type", "reason"),
    [
        ("a//b", 1, TEXT, "key"),
        ("../x", 1, TEXT, "key"),
        ("large", FILE_BYTES_MAX + 1, TEXT, "size"),
        ("a", 1, "text/\u00fc", "content_type"),
    ],
)
async def test_what_others_stored_and_no_file_can_be_is_named(
    client: httpx.AsyncClient, stage: Stage, key: str, size: int, content_type: str, reason: str
) -> None:
    (file, _) = next(iter(stage.objects._objects.values()))
    stored: Object = replace(file, key=f"workspaces/{HOME}/{key}", size_bytes=size, content_type=content_type)
    stage.objects._objects = {stored.key: (stored, bytes(size))}
    archive = await export(stage, "ann")
    assert read_values(take_apart(archive)[1], "files") == [{"kind": "left_out", "key": key, "reason": reason}]


async def test_an_archive_of_a_deployment_without_a_bucket_says_so(client: httpx.AsyncClient, stage: Stage) -> None:
    offered = stage.deps
    stage.deps = lambda: replace(offered(), tools=list_offered(has_files=False))  # type: ignore[method-assign] # of this test
    assert read_archive(io.BytesIO(await export(stage, "ann"))).file_bytes is None


async def test_without_a_bucket_an_archive_with_files_is_refused_before_anything_is_stored(
    bob: httpx.AsyncClient, archive: bytes, stage: Stage
) -> None:
    app = create_app(replace(stage.deps(), tools=list_offered(has_files=False)))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://api.test", headers=bob.headers
    ) as client:
        refused = await client.post(IMPORTS, json=take_apart(archive)[0])
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "the archive has 1 file, and this deployment keeps no files: it has no bucket for them",
    )
    assert "importing" not in (await bob.get("/v1/workspaces")).text


async def test_more_than_the_plan_keeps_is_refused_before_anything_is_stored(bob: httpx.AsyncClient, archive: bytes) -> None:
    refused = await bob.post(IMPORTS, json={**take_apart(archive)[0], "file_bytes": 2**40})
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("the archive has files of 1,099,511,627,776 bytes, and a workspace of this plan")
    assert "importing" not in (await bob.get("/v1/workspaces")).text


async def test_what_has_no_room_is_refused_by_name_and_nothing_of_its_file_is_stored(
    bob: httpx.AsyncClient, archive: bytes, stage: Stage
) -> None:
    begins, files = forge(archive, [*write_file("a"), *write_file("b", b"x" * 50)], file_bytes=56)
    workspace = await begin(bob, begins)
    most = (await bob.get("/v1/files")).json()["limit_bytes"]
    stage.memory.file_quotas[workspace] = FileQuota(id=workspace, used_bytes=most - 10)
    refused = await send_files(bob, workspace, files)
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith(f"{FIRST} line 5: file b: 50 bytes are more than the 4 that are free")
    assert await read_all(stage, workspace) == {}


async def test_a_file_that_is_there_is_not_replaced(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    begins, files = take_apart(archive)
    workspace = await begin(bob, begins)
    await stage.files.write(workspace, "notes.md", b"Mine.", content_type=TEXT, write="operator")
    refused = await send_files(bob, workspace, files)
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        f"{FIRST} line 2: file notes.md: somebody else has stored or deleted a file of this key; try again",
    )
    assert await read_all(stage, workspace) == {"notes.md": (b"Mine.", TEXT)}


async def test_a_file_that_somebody_replaces_between_two_of_its_parts_does_not_grow(
    bob: httpx.AsyncClient, stage: Stage
) -> None:
    await keep(stage, {"large": (LARGE, TEXT)})
    begins, files = take_apart(await export(stage, "ann"))
    workspace = await begin(bob, begins)
    write = stage.files.write

    async def replace_first(*arguments: Any, **named: Any) -> Any:
        done = await write(*arguments, **named)
        if len(arguments[2]) == PART_BYTES:
            await write(*arguments[:2], b"Mine.", content_type=TEXT, write="somebody")
        return done

    stage.files.write = replace_first  # type: ignore[method-assign]
    assert (await send_files(bob, workspace, files)).status_code == 409
    assert await read_all(stage, workspace) == {"large": (b"Mine.", TEXT)}


async def test_a_file_of_the_archive_that_is_sent_twice_counts_once(
    bob: httpx.AsyncClient, archive: bytes, stage: Stage
) -> None:
    begins, files = forge(archive, write_file("a"), write_file("b"))
    workspace = await begin(bob, begins)
    for number, (name, data) in enumerate(files.items()):
        url = f"{IMPORTS}/{workspace}/files?number={number}"
        answers = [await bob.put(url, json=describe_file(name, data)) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
    assert stage.memory.file_quotas[workspace].used_bytes == 12


async def test_a_file_of_the_archive_that_comes_to_two_instances_at_once_counts_once(
    bob: httpx.AsyncClient, archive: bytes, stage: Stage
) -> None:
    begins, files = forge(archive, write_file("a"), write_file("b"))
    workspace = await begin(bob, begins)
    transport = httpx.ASGITransport(app=create_app(stage.deps()))
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=bob.headers) as other:
        for number, (name, data) in enumerate(files.items()):
            url, body = f"{IMPORTS}/{workspace}/files?number={number}", describe_file(name, data)
            answers = await asyncio.gather(*(client.put(url, json=body) for client in (bob, other)))
            assert {answer.status_code for answer in answers} in ({200}, {200, 409})
    assert await read_all(stage, workspace) == {"a": (b"Hello.", TEXT), "b": (b"Hello.", TEXT)}
    quota = stage.memory.file_quotas[workspace]
    assert (quota.used_bytes, quota.reserved_bytes) == (12, 0)


async def test_a_write_that_the_quota_has_forgotten_after_days_counts_once(
    bob: httpx.AsyncClient, archive: bytes, stage: Stage
) -> None:
    begins, files = forge(archive, write_file("a"), write_file("b"))
    workspace = await begin(bob, begins)
    at = [*files].index(FIRST)
    await send_files(bob, workspace, dict([*files.items()][: at + 1]))
    stored = stage.memory.workspaces[workspace]
    assert stored.imported is not None
    before = replace(stored.imported, following=at, file=None, stored_bytes=0, head="", name=[*files][at - 1], counts={})
    # the answer came, and the note that the file is stored did not
    stage.memory.workspaces[workspace] = replace(stored, imported=before)
    stage.memory.file_quotas[workspace] = FileQuota(id=workspace, used_bytes=6)
    stage.clock.turn(SETTLED_LIFETIME)
    url = f"{IMPORTS}/{workspace}/files?number={at}"
    assert (await bob.put(url, json=describe_file(FIRST, files[FIRST]))).status_code == 200
    assert stage.memory.file_quotas[workspace].used_bytes == 6


PART = {"kind": "part", "content": base64.b64encode(b"Hello.").decode()}
HOSTILE: Mapping[str, tuple[list[dict[str, Any]], str]] = {
    "up the path": (write_file("../../etc/passwd"), f"{FIRST} line 1: key: must be written as it is kept"),
    "another workspace's prefix": (write_file("/workspaces/ws_x/a"), "key: must be written as it is kept"),
    "a backslash": (write_file("a\\b"), "key: must be written as it is kept"),
    "a sign that is not seen": (write_file("a\u202eb"), "key: must be written as it is kept"),
    "no key": (write_file(""), "key: must be written as it is kept"),
    "a key too long": (write_file("k" * 513), "key: must be written as it is kept"),
    "a file twice": ([*write_file("a"), *write_file("a")], f"{FIRST} line 4: a: is there twice, or not in the order"),
    "files out of order": ([*write_file("b"), *write_file("a")], "a: is there twice, or not in the order"),
    "other bytes": (
        [write_file("a")[0], {"kind": "part", "content": base64.b64encode(b"Other.").decode()}, write_file("a")[2]],
        f"{FIRST} line 3: file a: its bytes have another SHA-256",
    ),
    "a size that is too small": (write_file("a", size_bytes=5), "a: this part has 6 bytes, and must have 5"),
    "a size that is too large": (write_file("a", size_bytes=7), "a: this part has 6 bytes, and must have 7"),
    "a size below zero": (write_file("a", size_bytes=-1), "a: size_bytes must be 0 to"),
    "a size above all": (write_file("a", size_bytes=FILE_BYTES_MAX + 1), "a: size_bytes must be 0 to 31,457,280"),
    "a size that is no number": (write_file("a", size_bytes=True), "a: size_bytes must be 0 to"),
    "one part more": ([*write_file("a")[:2], PART, write_file("a")[2]], "a: this part has 6 bytes, and must have 0"),
    "an end too early": ([write_file("a")[0], write_file("a")[2]], "a: has 0 bytes, and 6 were told"),
    "an end of another": ([*write_file("a")[:2], write_file("b")[2]], "key: ends another file"),
    "a part of nothing": ([PART], "is a line of kind part where none may be"),
    "a file in a file": ([write_file("a")[0], *write_file("b")], "is a line of kind file where none may be"),
    "no base64": ([write_file("a")[0], {"kind": "part", "content": "SGVsbG8u\n"}], "a: content is no base64"),
    "base64 in another spelling": (
        [write_file("a", b"Hell")[0], {"kind": "part", "content": "SGVsbB=="}],
        "a: content is no base64",
    ),
    "a type with a line break": (write_file("a", content_type="a\r\nb"), "a: content_type must be visible ASCII"),
    "the mark of what is deleted": (
        write_file("a", content_type="application/vnd.ferryman.deleted"),
        "a: content_type must be visible ASCII, and no mark of ours",
    ),
    "a time that is none": (write_file("a", updated_at="soon"), "a: updated_at is no moment"),
    "one member more": (write_file("a", owner="ann"), "is no line of a file"),
    "an unknown kind": ([{"kind": "link", "key": "a"}], "is no line of a file"),
    "a kind that is none": ([{"kind": [], "key": "a"}], "is no line of a file"),
    "left out for no reason": ([{"kind": "left_out", "key": "a", "reason": "tired"}], "must have a key, and a reason of"),
    "left out in the midst": (
        [*write_file("a")[:2], {"kind": "left_out", "key": "b", "reason": "changed"}],
        "a: has no end",
    ),
    "too many at once": (
        [line for number in range(LINES_MAX["files"] // 2 + 1) for line in write_file(f"{number:03}", b"")],
        f"{FIRST} line 301: is one line too many",
    ),
}
"""Lines of files, each with the words of the refusal."""


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_lines_are_refused_and_nothing_of_their_file_is_stored(
    bob: httpx.AsyncClient, archive: bytes, name: str, stage: Stage
) -> None:
    lines, words = HOSTILE[name]
    begins, files = forge(archive, lines)
    workspace = await begin(bob, {**begins, "file_bytes": 0})
    refused = await send_files(bob, workspace, files)
    assert refused.status_code == 422, refused.text
    assert words in " ".join(error["message"] for error in refused.json()["errors"])
    assert await read_all(stage, workspace) == {}
    assert (await bob.get(f"/v1/workspaces/{workspace}")).json()["state"] == "importing"


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "too many at once"])
def test_hostile_lines_are_found_offline(name: str) -> None:
    lines, words = HOSTILE[name]
    check = FileCheck(lambda _: None)

    def read_all_lines() -> None:
        for number, line in enumerate(lines, 1):
            check.read(f"{FIRST} line {number}", line)

    with pytest.raises(ArchiveError) as refused:
        read_all_lines()
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("begins", "words"),
    [({"file_bytes": 5}, "file_bytes: the manifest says 5, and the files have 6"), ({}, "")],
)
async def test_bytes_that_the_manifest_does_not_tell_are_refused_at_the_end(
    bob: httpx.AsyncClient, archive: bytes, begins: dict[str, int], words: str
) -> None:
    about, files = take_apart(archive)
    answer = await send_files(bob, await begin(bob, {**about, **begins}), files)
    assert answer.status_code == (422 if words else 200)
    assert words in answer.text


async def test_a_file_that_spans_files_of_the_archive_is_compared_with_its_sha256(
    bob: httpx.AsyncClient, archive: bytes, stage: Stage
) -> None:
    first, part, end = write_file("a")
    wrong = {**end, "sha256": "0" * 64}
    begins, files = forge(archive, [first], [part], [wrong])
    refused = await send_files(bob, await begin(bob, begins), files)
    assert refused.status_code == 422
    assert "files-000003.jsonl line 1: file a: its bytes have another SHA-256" in refused.text


async def test_a_file_without_its_end_is_refused(bob: httpx.AsyncClient, archive: bytes) -> None:
    first, part, _ = write_file("a")
    begins, files = forge(archive, [first, part])
    files = {name: data for name, data in files.items() if not name.startswith("executions-")}
    refused = await send_files(bob, await begin(bob, describe(begins, files)), files)
    assert refused.status_code == 422
    assert "file a has no end" in refused.text


async def test_no_export_holds_more_lines_of_files_in_one_than_an_import_takes(client: httpx.AsyncClient, stage: Stage) -> None:
    await keep(stage, {f"{number:03}": (b"", TEXT) for number in range(LINES_MAX["files"] // 2 + 1)})
    archive = await export(stage, "ann")
    counts = [data.count(b"\n") for name, data in iterate_files(io.BytesIO(archive)) if name.startswith("files-")]
    assert counts == [300, 2]


async def test_memory_is_that_of_some_parts_however_large_the_files_are(client: httpx.AsyncClient, stage: Stage) -> None:
    large = bytes(range(256)) * (5 * PART_BYTES // 256)
    await keep(stage, dict.fromkeys("ab", (large, TEXT)))
    workspace = await stage.deps().workspaces.get(HOME, owner="ann")
    assert workspace is not None

    async def check() -> None:
        return None

    tracemalloc.start()
    try:
        async for _ in WorkspaceExport(stage.deps(), workspace, check).stream():
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    print(f"peak: {peak / 1_048_576:.1f} MiB for files of {3 * len(large) / 1_048_576:.0f} MiB")
    assert peak < 10 * PART_BYTES


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"file_bytes": 7}, "file_bytes: is 7, and the files have 6"),
        ({"files_left_out": 1}, "files_left_out: is 1, and the files have 0"),
        ({"counts": {"files": 2}}, "counts.files: is 2, and the files have 1"),
    ],
)
def test_a_manifest_that_tells_of_other_files_is_found_offline(archive: bytes, members: dict[str, Any], words: str) -> None:
    check = FileCheck(lambda _: None)
    for line in read_values(take_apart(archive)[1], "files"):
        check.read("", line)
    with pytest.raises(ArchiveError, match=words):
        check.end(replace(read_archive(io.BytesIO(archive)), **members))


def test_what_is_released_are_the_writes_of_files_that_are_stored() -> None:
    names = ("import.1.2", "import.2.9", "import.3.1", "upload_1", "exec_1.0")
    assert list_names(names, 2) == ["import.1.2", "import.2.9"]
