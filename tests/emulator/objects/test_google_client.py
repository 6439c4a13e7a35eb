"""Google's own client: objects of all kinds of uploads, in parts, under preconditions, in lists."""

from __future__ import annotations

import base64
import hashlib
import io
import os
from datetime import timedelta

import pytest
from google.api_core import exceptions
from google.cloud import storage

from .conftest import BUCKET, RunningStore

TEXT = "text/plain; charset=utf-8"
NAME = "workspaces/w/Zürich ☂ 100%+?&#=.md"
MIB = 1024 * 1024
CONTENT = bytes(range(256)) * 41


def test_an_object_is_read_as_it_was_stored(bucket: storage.Bucket) -> None:
    blob = bucket.blob(NAME)
    blob.metadata = {"ticket": "exec_1/7", "note": "grüß"}
    blob.cache_control, blob.content_disposition, blob.content_language = "no-store", 'attachment; filename="a.md"', "de"
    blob.upload_from_string(CONTENT, content_type=TEXT)
    read = bucket.get_blob(NAME)
    assert (read.content_type, read.size, read.metadata) == (TEXT, len(CONTENT), {"ticket": "exec_1/7", "note": "grüß"})
    assert (read.cache_control, read.content_language) == ("no-store", "de")
    assert read.content_disposition == 'attachment; filename="a.md"'
    assert base64.b64decode(read.md5_hash) == hashlib.md5(CONTENT).digest()
    assert read.download_as_bytes(checksum="crc32c") == read.download_as_bytes(checksum="md5") == CONTENT


@pytest.mark.parametrize("size", [0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 2 * MIB + 7])
def test_every_kind_of_upload_stores_the_same(bucket: storage.Bucket, size: int) -> None:
    content = os.urandom(size)
    whole, resumable = bucket.blob("whole"), bucket.blob("resumable", chunk_size=256 * 1024)
    whole.upload_from_string(content)
    resumable.upload_from_file(io.BytesIO(content), checksum="crc32c")  # of a length that nobody tells: in pieces
    assert (resumable.size, resumable.md5_hash, resumable.crc32c) == (size, whole.md5_hash, whole.crc32c)
    assert resumable.download_as_bytes() == content


def test_an_upload_whose_size_is_known_is_resumable_too(bucket: storage.Bucket) -> None:
    content = os.urandom(3 * MIB + 1)
    blob = bucket.blob("known", chunk_size=MIB)
    blob.metadata = {"a": "b"}
    blob.upload_from_file(io.BytesIO(content), size=len(content), content_type=TEXT, checksum="md5")
    assert (blob.content_type, blob.metadata, blob.download_as_bytes()) == (TEXT, {"a": "b"}, content)


def test_a_content_that_changed_on_the_way_is_refused(bucket: storage.Bucket) -> None:
    blob = bucket.blob("changed")
    blob.md5_hash = "1B2M2Y8AsgTpgAmY7PhCfg=="  # of nothing
    with pytest.raises(exceptions.BadRequest, match="MD5"):
        blob.upload_from_string(b"x")
    assert bucket.get_blob("changed") is None


@pytest.mark.parametrize(("start", "end", "part"), [(0, 3, b"0123"), (4, 4, b"4"), (8, 99, b"89"), (5, None, b"56789")])
def test_parts_are_read(bucket: storage.Bucket, start: int, end: int | None, part: bytes) -> None:
    bucket.blob("a").upload_from_string(b"0123456789")
    assert bucket.blob("a").download_as_bytes(start=start, end=end) == part


def test_a_part_behind_the_end_cannot_be_read(bucket: storage.Bucket) -> None:
    bucket.blob("a").upload_from_string(b"0123456789")
    with pytest.raises(exceptions.RequestRangeNotSatisfiable):
        bucket.blob("a").download_as_bytes(start=10)


def test_a_part_over_chunks_is_read(bucket: storage.Bucket) -> None:
    content = os.urandom(MIB)
    bucket.blob("a").upload_from_string(content)
    start, end = 256 * 1024 - 3, 768 * 1024 + 3
    assert bucket.blob("a").download_as_bytes(start=start, end=end) == content[start : end + 1]


def test_an_object_is_created_once(bucket: storage.Bucket) -> None:
    bucket.blob("a").upload_from_string(b"1", if_generation_match=0)
    for blob in (bucket.blob("a"), bucket.blob("a", chunk_size=256 * 1024)):
        with pytest.raises(exceptions.PreconditionFailed):
            blob.upload_from_file(io.BytesIO(b"2"), if_generation_match=0)
    assert bucket.blob("a").download_as_bytes() == b"1"


def test_a_generation_is_replaced_once_and_never_comes_back(bucket: storage.Bucket) -> None:
    first, second = bucket.blob("a"), bucket.blob("a")
    first.upload_from_string(b"1")
    second.upload_from_string(b"1", if_generation_match=first.generation)
    assert second.generation > first.generation
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob("a").upload_from_string(b"3", if_generation_match=first.generation)
    with pytest.raises(exceptions.NotFound):
        bucket.blob("a", generation=first.generation).download_as_bytes()
    bucket.blob("a").delete(if_generation_match=second.generation)
    third = bucket.blob("a")
    third.upload_from_string(b"1")
    assert third.generation > second.generation


def test_a_condition_of_a_resumable_upload_is_judged_at_its_end_too(bucket: storage.Bucket) -> None:
    blob = bucket.blob("a", chunk_size=256 * 1024)
    session = blob.create_resumable_upload_session(if_generation_match=0)
    bucket.blob("a").upload_from_string(b"faster")
    answer = bucket.client._http.put(session, data=b"slower", timeout=30)
    assert (answer.status_code, bucket.blob("a").download_as_bytes()) == (412, b"faster")


def test_reads_are_under_conditions(bucket: storage.Bucket) -> None:
    blob = bucket.blob("a")
    blob.upload_from_string(b"1")
    with pytest.raises(exceptions.PreconditionFailed):
        blob.download_as_bytes(if_generation_match=1)
    with pytest.raises(exceptions.PreconditionFailed):
        blob.reload(if_metageneration_match=2)
    with pytest.raises(exceptions.NotModified):
        blob.reload(if_generation_not_match=blob.generation)
    with pytest.raises(exceptions.NotFound):
        bucket.blob("b").download_as_bytes(if_generation_match=1)


def test_metadata_changes_by_itself(bucket: storage.Bucket) -> None:
    blob = bucket.blob("a")
    blob.metadata = {"a": "1", "b": "2"}
    blob.upload_from_string(b"1", content_type=TEXT)
    generation = blob.generation
    blob.metadata = {"a": None, "c": "3"}
    blob.patch(if_metageneration_match=1)
    changed = bucket.get_blob("a")
    assert (changed.generation, changed.metageneration, changed.content_type) == (generation, 2, TEXT)
    assert changed.metadata == {"b": "2", "c": "3"}
    with pytest.raises(exceptions.PreconditionFailed):
        blob.patch(if_metageneration_match=1)


def test_lists_have_prefixes_delimiters_and_pages(bucket: storage.Bucket) -> None:
    for name in ("a/1", "a/2", "a/b/1", "a/b/2", "a/c/1", "a/\U0001f600", "a/\uffee", "b/1", "a"):
        bucket.blob(name).upload_from_string(b"")
    assert [blob.name for blob in bucket.list_blobs(prefix="a/", page_size=2)] == [
        *("a/1", "a/2", "a/b/1", "a/b/2", "a/c/1", "a/\uffee", "a/\U0001f600"),
    ]
    folder = bucket.list_blobs(prefix="a/", delimiter="/", page_size=1)
    assert [blob.name for blob in folder] == ["a/1", "a/2", "a/\uffee", "a/\U0001f600"]
    assert folder.prefixes == {"a/b/", "a/c/"}
    between = bucket.list_blobs(start_offset="a/2", end_offset="a/c/1")
    assert [blob.name for blob in between] == ["a/2", "a/b/1", "a/b/2"]
    assert len(list(bucket.list_blobs(max_results=3))) == 3


def test_a_page_token_that_is_none_is_refused(bucket: storage.Bucket) -> None:
    with pytest.raises(exceptions.BadRequest, match="page token"):
        list(bucket.list_blobs(page_token="~"))


def test_what_is_deleted_is_gone(bucket: storage.Bucket) -> None:
    bucket.blob("a").upload_from_string(b"1")
    bucket.blob("a").delete()
    assert not bucket.blob("a").exists()
    with pytest.raises(exceptions.NotFound):
        bucket.blob("a").delete()


@pytest.mark.parametrize("name", ["x" * 1_025, ".", "..", "a\nb", ".well-known/acme-challenge/x"])
def test_a_name_that_production_refuses_is_refused(bucket: storage.Bucket, name: str) -> None:
    with pytest.raises(exceptions.BadRequest):
        bucket.blob(name).upload_from_string(b"")


def test_metadata_beyond_its_bound_is_refused(bucket: storage.Bucket) -> None:
    blob = bucket.blob("a")
    blob.metadata = {"a": "x" * 8_192}
    with pytest.raises(exceptions.BadRequest, match="8192 bytes"):
        blob.upload_from_string(b"")


def test_buckets_are_created_listed_and_deleted_when_empty(store: RunningStore) -> None:
    client = store.google()
    assert [bucket.name for bucket in client.list_buckets()] == ["a-project-files", "a-project-other"]
    assert client.get_bucket(BUCKET).exists()
    with pytest.raises(exceptions.Conflict):
        client.create_bucket(BUCKET)
    client.bucket(BUCKET).blob("a").upload_from_string(b"")
    with pytest.raises(exceptions.Conflict, match="not empty"):
        client.bucket(BUCKET).delete()
    client.bucket(BUCKET).delete(force=True)
    assert client.lookup_bucket(BUCKET) is None
    with pytest.raises(exceptions.NotFound):
        client.bucket(BUCKET).blob("a").upload_from_string(b"")


@pytest.mark.parametrize("name", ["ab", "Upper", "a..b", "1.2.3.4", "google-x", "storage", "-a-", "x" * 64])
def test_a_bucket_of_a_name_that_cannot_be_is_refused(store: RunningStore, name: str) -> None:
    client = store.google()
    with pytest.raises((exceptions.BadRequest, exceptions.Conflict, ValueError)):
        client.create_bucket(client.bucket(name))


def test_a_session_ends_after_a_week(store: RunningStore) -> None:
    bucket = store.google("files").bucket(BUCKET)
    session = bucket.blob("a").create_resumable_upload_session()
    store.clock.advance(timedelta(days=8))
    bucket.blob("b").create_resumable_upload_session()
    assert bucket.client._http.put(session, data=b"1", timeout=30).status_code == 404


def test_an_upload_into_a_bucket_that_was_deleted_meanwhile_is_refused(store: RunningStore) -> None:
    bucket = store.google().bucket(BUCKET)
    session = bucket.blob("a").create_resumable_upload_session()
    bucket.delete()
    assert bucket.client._http.put(session, data=b"1", timeout=30).status_code == 404
    store.google().create_bucket(BUCKET)
    assert list(bucket.list_blobs()) == []
