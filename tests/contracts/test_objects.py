"""Objects of a bucket: written under a precondition, read in parts, listed in pages, and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from ferryman.domain.files.object import ABSENT, PUT_BYTES_MAX, ObjectChangedError, ObjectMissingError
from ferryman.ports.objects import Objects

from .buckets import KINDS, run_bucket

TEXT = "text/plain; charset=utf-8"
KEY = "workspaces/w/reports/Zürich ☂ 100%+?&#.md"


@pytest.fixture(params=KINDS)
async def objects(request: pytest.FixtureRequest) -> AsyncIterator[Objects]:
    """An empty bucket."""
    async with run_bucket(request.param) as empty:
        yield empty


async def put(objects: Objects, key: str, content: bytes = b"x", *, expected: str | None = None) -> str:
    """Store an object, and return its version."""
    return await objects.put(key, content, content_type=TEXT, expected=expected)


async def list_all(objects: Objects, prefix: str, most: int) -> list[list[str]]:
    """Return the keys of every page."""
    pages, cursor = [], None
    while not pages or cursor is not None:
        page = await objects.list(prefix, cursor=cursor, most=most)
        pages.append([entry.key for entry in page.entries])
        cursor = page.cursor
    return pages


async def test_an_object_is_read_as_it_was_stored(objects: Objects) -> None:
    content = bytes(range(256)) * 40
    version = await objects.put(KEY, content, content_type=TEXT, metadata={"ticket": "exec_1 7", "by": "a-b"})
    stored = await objects.head(KEY)
    assert stored is not None
    assert (stored.key, stored.size_bytes, stored.content_type) == (KEY, len(content), TEXT)
    assert stored.metadata == {"ticket": "exec_1 7", "by": "a-b"}
    read = await objects.get(KEY)
    assert (read.content, read.size_bytes, read.content_type) == (content, len(content), TEXT)
    assert read.version == stored.version == version


async def test_what_is_not_there_is_missing(objects: Objects) -> None:
    assert await objects.head(KEY) is None
    with pytest.raises(ObjectMissingError):
        await objects.get(KEY)
    with pytest.raises(ObjectMissingError):
        await objects.get(KEY, version="1")


@pytest.mark.parametrize(
    ("start", "size", "content"), [(0, 4, b"0123"), (4, 3, b"456"), (8, 9, b"89"), (10, 1, b""), (99, 1, b"")]
)
async def test_a_part_is_read_with_the_size_of_the_whole(objects: Objects, start: int, size: int, content: bytes) -> None:
    version = await put(objects, KEY, b"0123456789")
    read = await objects.get(KEY, start=start, size=size)
    assert (read.content, read.start, read.end, read.size_bytes) == (content, start, start + len(content), 10)
    assert (read.content_type, read.version) == (TEXT, version)


async def test_an_empty_object_is_one(objects: Objects) -> None:
    version = await put(objects, KEY, b"")
    read = await objects.get(KEY)
    assert (read.content, read.size_bytes, read.version) == (b"", 0, version)


async def test_parts_of_one_version_are_of_that_version_alone(objects: Objects) -> None:
    version = await put(objects, KEY, b"0123456789")
    first = await objects.get(KEY, size=5, version=version)
    await put(objects, KEY, b"abcdefghij")
    with pytest.raises(ObjectChangedError):
        await objects.get(KEY, start=first.end, version=version)


async def test_every_content_has_a_version_of_its_own(objects: Objects) -> None:
    versions = {await put(objects, KEY, content) for content in (b"1", b"2", b"3")}
    assert len(versions) == 3


async def test_an_object_is_created_once(objects: Objects) -> None:
    await put(objects, KEY, b"first", expected=ABSENT)
    with pytest.raises(ObjectChangedError):
        await put(objects, KEY, b"second", expected=ABSENT)
    assert (await objects.get(KEY)).content == b"first"


async def test_a_version_is_replaced_once(objects: Objects) -> None:
    first = await put(objects, KEY, b"first")
    second = await put(objects, KEY, b"second", expected=first)
    with pytest.raises(ObjectChangedError):
        await put(objects, KEY, b"third", expected=first)
    assert (await objects.get(KEY)).version == second


async def test_a_version_of_what_was_deleted_is_not_replaced(objects: Objects) -> None:
    first = await put(objects, KEY)
    await objects.delete(KEY)
    with pytest.raises(ObjectChangedError):
        await put(objects, KEY, expected=first)
    assert await objects.head(KEY) is None


async def test_of_those_who_create_an_object_at_once_one_does(objects: Objects) -> None:
    attempts = (put(objects, KEY, f"{number}".encode(), expected=ABSENT) for number in range(16))
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, ObjectChangedError)]
    assert len(refused) == 15
    assert await objects.get(KEY, version=next(outcome for outcome in outcomes if isinstance(outcome, str)))


async def test_an_object_that_is_written_again_loses_its_metadata(objects: Objects) -> None:
    await objects.put(KEY, b"1", content_type=TEXT, metadata={"ticket": "1"})
    await objects.put(KEY, b"2", content_type="application/json")
    stored = await objects.head(KEY)
    assert stored is not None
    assert (stored.content_type, stored.metadata) == ("application/json", {})


async def test_what_is_deleted_is_gone_and_may_be_deleted_again(objects: Objects) -> None:
    await put(objects, KEY)
    await objects.delete(KEY)
    await objects.delete(KEY)
    assert await objects.head(KEY) is None


async def test_only_the_version_that_was_expected_is_deleted(objects: Objects) -> None:
    first = await put(objects, KEY, b"1")
    second = await put(objects, KEY, b"2")
    with pytest.raises(ObjectChangedError):
        await objects.delete(KEY, version=first)
    await objects.delete(KEY, version=second)
    await objects.delete(KEY, version=second)
    assert await objects.head(KEY) is None


async def test_a_list_has_the_keys_of_a_prefix_in_the_order_of_their_bytes(objects: Objects) -> None:
    keys = ["a/1", "a/10", "a/2", "a/ä", "a/\uffee", "a/\U0001f600"]
    for key in (*reversed(keys), "a", "ab/1", "b/1"):
        await put(objects, key)
    assert await list_all(objects, "a/", 1_000) == [keys]


async def test_a_page_says_of_each_object_its_size_version_and_time(objects: Objects) -> None:
    await put(objects, KEY, b"123")
    stored = await objects.head(KEY)
    assert stored is not None
    (entry,) = (await objects.list("")).entries
    assert (entry.key, entry.size_bytes, entry.version) == (KEY, 3, stored.version)
    assert abs((entry.updated_at - stored.updated_at).total_seconds()) < 1  # S3 tells milliseconds here, and there seconds


@pytest.mark.parametrize(("most", "sizes"), [(1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (1_000, [7])])
async def test_pages_follow_each_other_without_a_gap(objects: Objects, most: int, sizes: list[int]) -> None:
    keys = [f"p/{number} %" for number in range(7)]
    for key in keys:
        await put(objects, key)
    pages = await list_all(objects, "p/", most)
    assert [len(page) for page in pages] == sizes
    assert [key for page in pages for key in page] == keys


async def test_a_page_goes_on_where_the_last_object_was_deleted(objects: Objects) -> None:
    for key in ("a", "b", "c"):
        await put(objects, key)
    page = await objects.list("", most=2)
    await objects.delete("b")
    rest = await objects.list("", cursor=page.cursor, most=2)
    assert [entry.key for entry in rest.entries] == ["c"]


async def test_a_list_of_nothing_is_an_empty_page(objects: Objects) -> None:
    page = await objects.list("nothing/")
    assert (page.entries, page.cursor) == ((), None)


async def test_what_a_service_would_change_or_refuse_is_refused_at_once(objects: Objects) -> None:
    refused = ({"Upper": "x"}, {"": "x"}, {"a_b": "x"}, {"a": "ü"}, {"a": " x"}, {"a": "x\n"}, {"a": ""}, {"a": "x" * 2_048})
    for metadata in refused:
        with pytest.raises(ValueError, match="metadata"):
            await objects.put(KEY, b"", content_type=TEXT, metadata=metadata)
    for key in ("ü" * 513, "", "a/../b", ".", "a/.", "a\nb", "a\x00", "a\x85"):
        for use in (put(objects, key), objects.get(key), objects.head(key), objects.delete(key)):
            with pytest.raises(ValueError, match="a key has"):
                await use
    for content_type in ("", "text/plain\n", "ü", "x" * 256):
        with pytest.raises(ValueError, match="a content type"):
            await objects.put(KEY, b"", content_type=content_type)
    with pytest.raises(ValueError, match="at most 33,554,432 bytes"):
        await put(objects, KEY, b"x" * (PUT_BYTES_MAX + 1))
    for start, size in ((-1, 1), (0, 0), (0, PUT_BYTES_MAX + 1)):
        with pytest.raises(ValueError, match="a part"):
            await objects.get(KEY, start=start, size=size)
    for most in (0, 1_001):
        with pytest.raises(ValueError, match="a page"):
            await objects.list("", most=most)
    assert await objects.head(KEY) is None


async def test_a_cursor_that_is_none_is_refused(objects: Objects) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await objects.list("a/", cursor="~")


@pytest.mark.parametrize("key", ["a//b", "/a", "a/", "~!*'()", "a+b c", "%2F%2e", "?#&=;", "a\\b", "\U0001f600", "a\u0301"])
async def test_a_key_is_stored_as_it_is(objects: Objects, key: str) -> None:
    await put(objects, key, key.encode())
    assert (await objects.get(key)).content == key.encode()
    assert [entry.key for entry in (await objects.list("")).entries] == [key]
    await objects.delete(key)
    assert (await objects.list("")).entries == ()


async def test_the_largest_object_is_stored_and_read(objects: Objects) -> None:
    content = bytes(PUT_BYTES_MAX)
    await put(objects, KEY, content)
    assert (await objects.get(KEY)).content == content
