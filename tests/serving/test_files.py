"""Files over HTTP: stored, listed, downloaded and deleted by who may, in one workspace, and never shown by a browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from ferryman.domain.files.writes import FILE_BYTES_MAX, READ_BYTES_MAX
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.ports.errors import UnavailableError

from .conftest import Stage

Client = httpx.AsyncClient
HOME = derive_default_workspace("ann")


async def put(client: Client, key: str = "notes/trip.md", content: bytes = b"Hello.", **headers: str) -> httpx.Response:
    names = {name.replace("_", "-"): value for name, value in {"content_type": "text/markdown", **headers}.items()}
    return await client.put(f"/v1/files/{quote(key, safe='')}", content=content, headers=names)


async def get(client: Client, key: str = "notes/trip.md", **headers: str) -> httpx.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.get(f"/v1/files/{quote(key, safe='')}", headers=names)


async def test_a_file_is_stored_and_downloaded_as_it_was(client: Client):
    content = bytes(range(256)) * 40_000  # more than one part
    assert len(content) > READ_BYTES_MAX
    stored = await put(client, content=content)
    assert stored.status_code == 200
    assert {**stored.json(), "etag": ""} == {
        "key": "notes/trip.md",
        "size_bytes": len(content),
        "etag": "",
        "created": True,
    }
    answer = await get(client)
    assert (answer.status_code, answer.content) == (200, content)
    assert answer.headers["etag"] == stored.headers["etag"] == f'"{stored.json()["etag"]}"'
    assert answer.headers["content-length"] == str(len(content))


async def test_a_browser_saves_a_file_and_runs_and_shows_nothing_of_it(client: Client):
    await put(client, "a/page.html", b"<script>alert(1)</script>", content_type="text/html")
    headers = (await get(client, "a/page.html")).headers
    assert headers["content-disposition"] == "attachment; filename=\"page.html\"; filename*=UTF-8''page.html"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize("name", ['a"; filename="b.exe', "a;b", "ü.txt", "a'b", "x" * 400, "%0d%0aSet-Cookie: a=b"])
async def test_no_name_adds_anything_to_a_header(client: Client, name: str):
    stored = await put(client, name)
    answer = await get(client, stored.json()["key"])
    text = answer.headers["content-disposition"]
    assert text.startswith('attachment; filename="')
    assert (text.count('"'), text.count(";"), text.isascii(), "set-cookie" in answer.headers) == (2, 2, True, False)


@pytest.mark.parametrize("content_type", ["text/html\u00e9", "nothing", "text/html,text/plain", "a/b\x7f"])
async def test_a_type_that_is_none_is_not_told(client: Client, content_type: str):
    answer = await client.put("/v1/files/a", content=b"x", headers=[(b"content-type", content_type.encode("latin-1"))])
    if answer.status_code == 200:
        assert (await get(client, "a")).headers["content-type"] == "application/octet-stream"
    else:
        assert answer.status_code == 422


@pytest.mark.parametrize(
    ("parts", "status", "content", "content_range"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=4-", 206, b"456789", "bytes 4-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=-0", 416, None, "bytes */10"),
        ("bytes=3-1", 200, b"0123456789", None),
        ("bytes=0-1,4-5", 200, b"0123456789", None),
        ("lines=0-1", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
    ],
)
async def test_a_part_of_a_file_is_sent(
    client: Client, parts: str, status: int, content: bytes | None, content_range: str | None
):
    await put(client, content=b"0123456789")
    answer = await get(client, range=parts)
    assert (answer.status_code, answer.headers.get("content-range")) == (status, content_range)
    assert content is None or answer.content == content


async def test_a_part_of_another_version_is_none(client: Client):
    first = (await put(client, content=b"0123456789")).headers["etag"]
    assert (await get(client, range="bytes=0-1", if_range=first)).content == b"01"
    await put(client, content=b"abcdefghij")
    assert (await get(client, range="bytes=0-1", if_range=first)).content == b"abcdefghij"


async def test_what_has_not_changed_is_not_sent_again(client: Client):
    tag = (await put(client)).headers["etag"]
    assert [(await get(client, if_none_match=text)).status_code for text in (tag, f'"x", {tag}', "*", '"x"')] == [
        304,
        304,
        304,
        200,
    ]


async def test_an_empty_file_is_a_file(client: Client):
    assert (await put(client, content=b"")).status_code == 200
    answer = await get(client)
    assert (answer.status_code, answer.content) == (200, b"")


async def test_a_write_replaces_the_version_that_it_names_and_no_other(client: Client):
    first = (await put(client)).headers["etag"]
    second = await put(client, content=b"Second.", if_match=first)
    assert (second.status_code, second.json()["created"]) == (200, False)
    assert (await put(client, content=b"Third.", if_match=first)).status_code == 412
    assert (await put(client, content=b"Third.", if_none_match="*")).status_code == 412
    assert (await put(client, "new.md", if_match="*")).status_code == 412
    assert (await put(client, "new.md", if_none_match="*")).status_code == 200
    assert (await get(client)).content == b"Second."


async def test_a_write_that_meets_another_version_leaves_nothing_reserved(client: Client, stage: Stage):
    tag = (await put(client)).headers["etag"]
    write = stage.files.write

    async def lose(*arguments: Any, **named: Any) -> Any:
        await stage.files.delete(HOME, "notes/trip.md", write="somebody")
        return await write(*arguments, **named)

    stage.files.write = lose  # type: ignore[method-assign]
    assert (await put(client, content=b"Second.", if_match=tag)).status_code == 412
    assert stage.memory.file_quotas[HOME].reservations == {}


@pytest.mark.parametrize("condition", [{"if_match": "17"}, {"if_match": '"a'}, {"if_match": ",".join(['"a"'] * 21)}])
async def test_a_condition_that_is_none_is_refused(client: Client, condition: dict[str, str]):
    assert (await put(client, **condition)).status_code == 422


async def test_a_deleted_file_is_gone_and_its_bytes_are_free(client: Client, stage: Stage):
    tag = (await put(client)).headers["etag"]
    assert stage.memory.file_quotas[HOME].used_bytes == 6
    assert (await client.delete("/v1/files/notes/trip.md", headers={"if-match": '"x"'})).status_code == 412
    assert (await client.delete("/v1/files/notes/trip.md", headers={"if-match": tag})).status_code == 204
    assert [(await get(client)).status_code, (await client.delete("/v1/files/notes/trip.md")).status_code] == [404, 404]
    quota = stage.memory.file_quotas[HOME]
    assert (quota.used_bytes, quota.reservations) == (0, {})


async def test_a_deletion_that_cannot_be_counted_leaves_what_tells_of_it(client: Client, stage: Stage, monkeypatch: Any):
    await put(client)
    close = MemoryFileQuotas.close

    async def fail(*_: Any) -> Any:
        raise UnavailableError("it does not answer")

    monkeypatch.setattr(MemoryFileQuotas, "close", fail)
    assert (await client.delete("/v1/files/notes/trip.md")).status_code == 204
    ((write, _),) = stage.memory.file_quotas[HOME].reservations.items()
    done = await stage.files.find(HOME, "notes/trip.md", write=write)
    assert done is not None
    await close(MemoryFileQuotas(stage.memory), HOME, write, done.writes)
    assert stage.memory.file_quotas[HOME].used_bytes == 0


async def test_files_are_listed_by_prefix_page_by_page_with_the_bytes_that_they_use(client: Client):
    for number in range(5):
        await put(client, f"a/{number}", b"xx")
    await put(client, "b")
    first = (await client.get("/v1/files", params={"prefix": "a/", "limit": 3})).json()
    assert ([row["key"] for row in first["files"]], first["used_bytes"]) == (["a/0", "a/1", "a/2"], 16)
    rest = (await client.get("/v1/files", params={"prefix": "a/", "limit": 3, "cursor": first["next"]})).json()
    assert ([row["key"] for row in rest["files"]], rest["next"]) == (["a/3", "a/4"], None)
    assert (await client.get("/v1/files", params={"limit": 3, "cursor": first["next"]})).status_code == 422


@pytest.mark.parametrize(
    "key", ["../../ws_bob/secret", "/etc/passwd", "a/../../b", "a//b", "a\\..\\b", "a ", "a\u200b", "e\u0301", "...", "x" * 513]
)
async def test_a_key_that_is_not_as_files_are_kept_names_none(client: Client, stage: Stage, key: str):
    before = dict(stage.objects._objects)
    refused = await put(client, key)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "key")
    path = f"/v1/files/{quote(key, safe='')}"
    assert [(await client.get(path)).status_code, (await client.delete(path)).status_code] == [404, 404]
    assert (await client.get("/v1/file-links", params={"key": key})).status_code in (404, 422)
    assert stage.objects._objects == before


async def test_no_key_leaves_the_workspace(client: Client, stage: Stage):
    assert (await put(client, "workspaces/ws_bob/x")).status_code == 200
    assert list(stage.objects._objects)[1:] == [f"workspaces/{HOME}/workspaces/ws_bob/x"]


async def test_another_owner_and_another_workspace_find_nothing(client: Client, stage: Stage):
    await put(client)
    for headers in (stage.owner("bob"), {"ferryman-workspace": "ws_ann"}):
        answer = await client.get("/v1/files/notes/trip.md", headers=headers)
        assert (answer.status_code, answer.json()["detail"]) == (404, "there is no such file")
        listed = (await client.get("/v1/files", headers=headers)).json()["files"]
        assert "notes/trip.md" not in [row["key"] for row in listed]
        assert (await client.delete("/v1/files/notes/trip.md", headers=headers)).status_code == 404


@pytest.mark.parametrize(
    ("role", "scopes", "statuses"),
    [
        (Role.VIEWER, tuple(Right), (200, 200, 200, 403, 403)),
        (Role.OPERATOR, tuple(Right), (200, 200, 200, 403, 403)),
        (Role.ADMIN, tuple(Right), (200, 200, 200, 200, 204)),
        (Role.ADMIN, (Right.READ,), (200, 200, 200, 403, 403)),
        (Role.ADMIN, (Right.RUN,), (403, 403, 403, 403, 403)),
    ],
)
async def test_who_may_read_reads_and_who_may_manage_writes(
    client: Client, stage: Stage, role: Role, scopes: tuple[Right, ...], statuses: tuple[int, ...]
):
    await put(client)
    headers, path = stage.member(role, scopes=scopes), "/v1/files/notes/trip.md"
    answers = [
        await client.get("/v1/files", headers=headers),
        await client.get(path, headers=headers),
        await client.get("/v1/file-links", params={"key": "notes/trip.md"}, headers=headers),
        await client.put(path, content=b"x", headers=headers),
        await client.delete(path, headers=headers),
    ]
    assert tuple(answer.status_code for answer in answers) == statuses


async def test_without_a_key_nothing_is_told(client: Client):
    await put(client)
    for path in ("/v1/files", "/v1/files/notes/trip.md", "/v1/file-links?key=notes/trip.md"):
        assert (await client.get(path, headers={"authorization": ""})).status_code == 401


async def test_a_change_leaves_an_entry_that_says_who_made_it(client: Client):
    await put(client)
    await client.delete("/v1/files/notes/trip.md")
    entries = (await client.get("/v1/audit-entries")).json()["entries"]
    assert [(entry["action"], entry["targets"]) for entry in entries] == [
        ("deleteFile", ["notes/trip.md"]),
        ("putFile", ["notes/trip.md"]),
    ]


async def test_no_more_than_the_plan_has_is_kept(client: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch):
    await put(client, "a", b"x" * 10)
    quota = stage.memory.file_quotas[HOME]
    most = (await client.get("/v1/files")).json()["limit_bytes"]
    stage.memory.file_quotas[HOME] = type(quota)(id=HOME, used_bytes=most - 5)
    refused = await put(client, "b", b"x" * 6)
    assert (refused.status_code, "are free of the" in refused.json()["detail"]) == (413, True)
    assert (await put(client, "b", b"x" * 5)).status_code == 200
    assert (await get(client, "b")).content == b"xxxxx"


async def test_a_file_of_more_than_30_mib_is_refused(client: Client):
    refused = await client.put("/v1/files/a", content=b"", headers={"content-length": str(FILE_BYTES_MAX + 1)})
    assert refused.status_code == 413
    assert (await get(client, "a")).status_code == 404


async def test_a_write_whose_answer_is_lost_is_made_once_and_counted_once(
    client: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    write, lost = stage.files.write, [True]

    async def lose(*arguments: Any, **named: Any) -> Any:
        done = await write(*arguments, **named)
        if lost.pop():
            lost.append(False)
            raise UnavailableError("lost")
        return done

    monkeypatch.setattr(stage.files, "write", lose)
    assert (await put(client)).status_code == 200
    quota = stage.memory.file_quotas[HOME]
    assert (quota.used_bytes, quota.reservations) == (6, {})


async def test_a_write_whose_answer_is_lost_is_not_made_again_after_somebody_deleted_its_file(
    client: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    write, deleted = stage.files.write, list[int]()

    async def lose(*arguments: Any, **named: Any) -> Any:
        done = await write(*arguments, **named)
        if deleted:
            return done
        deleted.append((await client.delete("/v1/files/notes/trip.md")).status_code)
        raise UnavailableError("lost")

    monkeypatch.setattr(stage.files, "write", lose)
    assert ((await put(client)).status_code, deleted) == (200, [204])
    assert (await get(client)).status_code == 404
    quota = stage.memory.file_quotas[HOME]
    assert (quota.used_bytes, quota.reservations) == (0, {})


async def test_a_write_of_unknown_outcome_keeps_its_bytes_reserved(
    client: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    async def fail(*_: Any, **__: Any) -> Any:
        raise UnavailableError("lost")

    monkeypatch.setattr(stage.files, "write", fail)
    assert (await put(client)).status_code == 503
    assert stage.memory.file_quotas[HOME].reserved_bytes == 6


async def test_a_download_ends_where_the_right_to_it_is_lost(client: Client, stage: Stage):
    await put(client, content=b"x" * (READ_BYTES_MAX + 1))
    headers = stage.member(Role.VIEWER)
    read, reads = stage.files.read, list[int]()

    async def leave(*arguments: Any, **named: Any) -> Any:
        reads.append(named["start"])
        for place in [place for place, row in stage.memory.memberships.items() if row.role is Role.VIEWER]:
            del stage.memory.memberships[place]
        return await read(*arguments, **named)

    stage.files.read = leave  # type: ignore[method-assign]
    answer = await client.get("/v1/files/notes/trip.md", headers=headers)
    assert (reads, len(answer.content)) == ([0], READ_BYTES_MAX)
    assert answer.headers["content-length"] == str(READ_BYTES_MAX + 1)


async def test_a_download_ends_where_the_file_is_replaced(client: Client, stage: Stage):
    await put(client, content=b"x" * (READ_BYTES_MAX + 1))
    read = stage.files.read

    async def replace(*arguments: Any, **named: Any) -> Any:
        part = await read(*arguments, **named)
        if named["start"] == 0:
            await stage.files.write(HOME, "notes/trip.md", b"y" * (READ_BYTES_MAX + 1), content_type="a/b", write="somebody")
        return part

    stage.files.read = replace  # type: ignore[method-assign]
    assert (await get(client)).content == b"x" * READ_BYTES_MAX


async def test_a_deployment_without_a_bucket_says_so(stage: Stage):
    from dataclasses import replace

    from ferryman.catalog.tools import list_offered

    from .conftest import create_app

    app = create_app(replace(stage.deps(), tools=list_offered(has_files=False)))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://api.test", headers=stage.owner("ann")
    ) as client:
        assert (await client.get("/v1/files")).json()["detail"] == "this deployment keeps no files: it has no bucket for them"
