"""boto3: the same objects over S3, with conditions on entity tags, lists, and uploads in parts."""

from __future__ import annotations

import hashlib
import io
import os
from typing import Any

import boto3.s3.transfer
import pytest
from botocore.exceptions import ClientError

from .conftest import BUCKET, RunningStore

TEXT = "text/plain; charset=utf-8"
NAME = "workspaces/w/Zürich ☂ 100%+?&#=~.md"
MIB = 1024 * 1024


@pytest.fixture
def s3(store: RunningStore) -> Any:
    """boto3's client as the function that administers the bucket."""
    return store.s3("files")


def put(s3: Any, name: str, body: bytes = b"x", **more: Any) -> str:
    return str(s3.put_object(Bucket=BUCKET, Key=name, Body=body, **more)["ETag"])


def code_of(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str]:
    answer: Any = error.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]


def test_an_object_is_read_as_it_was_stored(s3: Any) -> None:
    body = os.urandom(300_000)
    about = {"ContentType": TEXT, "Metadata": {"ticket": "exec_1 7"}, "CacheControl": "no-store"}
    etag = put(s3, NAME, body, ContentDisposition="attachment", **about)
    assert etag == f'"{hashlib.md5(body).hexdigest()}"'
    for read in (s3.get_object(Bucket=BUCKET, Key=NAME), s3.head_object(Bucket=BUCKET, Key=NAME)):
        assert (read["ETag"], read["ContentLength"], read["ContentDisposition"]) == (etag, len(body), "attachment")
        assert {name: read[name] for name in about} == about
    assert s3.get_object(Bucket=BUCKET, Key=NAME)["Body"].read() == body


def test_both_services_have_the_same_objects(store: RunningStore, s3: Any) -> None:
    blob = store.google("files").bucket(BUCKET).blob(NAME)
    blob.metadata = {"by": "google"}
    blob.upload_from_string(b"1", content_type=TEXT)
    read = s3.get_object(Bucket=BUCKET, Key=NAME)
    assert (read["Body"].read(), read["ContentType"], read["Metadata"]) == (b"1", TEXT, {"by": "google"})
    put(s3, NAME, b"22", Metadata={"by": "s3"})
    read = blob.bucket.get_blob(NAME)
    assert (read.size, read.metadata, read.download_as_bytes()) == (2, {"by": "s3"}, b"22")


@pytest.mark.parametrize(
    ("header", "part", "answered"),
    [("bytes=0-3", b"0123", "0-3"), ("bytes=8-99", b"89", "8-9"), ("bytes=5-", b"56789", "5-9"), ("bytes=-2", b"89", "8-9")],
)
def test_parts_are_read(s3: Any, header: str, part: bytes, answered: str) -> None:
    put(s3, "a", b"0123456789")
    read = s3.get_object(Bucket=BUCKET, Key="a", Range=header)
    assert (read["Body"].read(), read["ContentRange"]) == (part, f"bytes {answered}/10")
    assert read["ResponseMetadata"]["HTTPStatusCode"] == 206


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=-0", "bytes=99-100"])
def test_a_part_behind_the_end_cannot_be_read(s3: Any, header: str) -> None:
    put(s3, "a", b"0123456789")
    with pytest.raises(ClientError) as error:
        s3.get_object(Bucket=BUCKET, Key="a", Range=header)
    assert code_of(error) == (416, "InvalidRange")


def test_writes_are_under_conditions(s3: Any) -> None:
    first = put(s3, "a", b"1", IfNoneMatch="*")
    for name, status, code, condition in (
        ("a", 412, "PreconditionFailed", {"IfNoneMatch": "*"}),
        ("a", 412, "PreconditionFailed", {"IfMatch": '"another"'}),
        ("b", 404, "NoSuchKey", {"IfMatch": first}),
    ):
        with pytest.raises(ClientError) as error:
            put(s3, name, b"2", **condition)
        assert code_of(error) == (status, code)
    put(s3, "a", b"2", IfMatch=first)
    with pytest.raises(ClientError):
        s3.delete_object(Bucket=BUCKET, Key="a", IfMatch=first)
    assert s3.get_object(Bucket=BUCKET, Key="a")["Body"].read() == b"2"


def test_reads_are_under_conditions(s3: Any) -> None:
    etag = put(s3, "a", b"1")
    assert s3.get_object(Bucket=BUCKET, Key="a", IfMatch=etag)["Body"].read() == b"1"
    for condition, status in (({"IfMatch": '"another"'}, 412), ({"IfNoneMatch": etag}, 304)):
        with pytest.raises(ClientError) as error:
            s3.get_object(Bucket=BUCKET, Key="a", **condition)
        assert code_of(error)[0] == status


def test_what_is_not_there_is_missing(s3: Any) -> None:
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket=BUCKET, Key="a")
    with pytest.raises(ClientError) as error:
        s3.head_object(Bucket=BUCKET, Key="a")
    assert code_of(error) == (404, "404")
    s3.delete_object(Bucket=BUCKET, Key="a")


def test_lists_have_prefixes_delimiters_and_pages(s3: Any) -> None:
    names = ["a/1", "a/2 %", "a/b/1", "a/b/2", "a/ä&<", "b", "a/\x01"]
    for name in names:
        put(s3, name)
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="a/", PaginationConfig={"PageSize": 2})
    listed = [[item["Key"] for item in page["Contents"]] for page in pages]
    assert listed == [["a/\x01", "a/1"], ["a/2 %", "a/b/1"], ["a/b/2", "a/ä&<"]]
    folder = s3.list_objects_v2(Bucket=BUCKET, Prefix="a/", Delimiter="/")
    assert [item["Prefix"] for item in folder["CommonPrefixes"]] == ["a/b/"]
    assert [item["Key"] for item in folder["Contents"]] == ["a/\x01", "a/1", "a/2 %", "a/ä&<"]
    rest = s3.list_objects_v2(Bucket=BUCKET, StartAfter="a/b/2")
    assert ([item["Key"] for item in rest["Contents"]], rest["KeyCount"], rest["IsTruncated"]) == (["a/ä&<", "b"], 2, False)
    assert s3.list_objects_v2(Bucket=BUCKET, MaxKeys=0)["KeyCount"] == 0


def test_a_continuation_token_that_is_none_is_refused(s3: Any) -> None:
    with pytest.raises(ClientError) as error:
        s3.list_objects_v2(Bucket=BUCKET, ContinuationToken="~")
    assert code_of(error) == (400, "InvalidArgument")


def test_a_large_file_goes_up_in_parts_and_comes_down_in_ranges(s3: Any) -> None:
    body, parts = (
        os.urandom(11 * MIB + 3),
        boto3.s3.transfer.TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB),
    )
    s3.upload_fileobj(io.BytesIO(body), BUCKET, NAME, Config=parts, ExtraArgs={"ContentType": TEXT})
    digests = [hashlib.md5(body[at : at + 5 * MIB]).digest() for at in range(0, len(body), 5 * MIB)]
    head = s3.head_object(Bucket=BUCKET, Key=NAME)
    assert head["ETag"] == f'"{hashlib.md5(b"".join(digests)).hexdigest()}-3"'
    assert (head["ContentLength"], head["ContentType"]) == (len(body), TEXT)
    target = io.BytesIO()
    s3.download_fileobj(BUCKET, NAME, target, Config=parts)
    assert target.getvalue() == body


def test_google_s_client_reads_what_came_in_parts(store: RunningStore, s3: Any) -> None:
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="a")["UploadId"]
    body = os.urandom(5 * MIB)
    tags = [
        s3.upload_part(Bucket=BUCKET, Key="a", UploadId=upload, PartNumber=number, Body=part)["ETag"]
        for number, part in ((7, b"end"), (2, body))
    ]
    chosen = [{"PartNumber": 2, "ETag": tags[1]}, {"PartNumber": 7, "ETag": tags[0]}]
    s3.complete_multipart_upload(Bucket=BUCKET, Key="a", UploadId=upload, MultipartUpload={"Parts": chosen})
    blob = store.google("files").bucket(BUCKET).get_blob("a")
    assert (blob.md5_hash, blob.component_count) == (None, 2)
    assert blob.download_as_bytes(checksum="crc32c") == body + b"end"


@pytest.mark.parametrize(
    ("sizes", "chosen", "code"),
    [
        ((3, 3), (1, 2), "EntityTooSmall"),
        ((3,), (1, 2), "InvalidPart"),
        ((5 * MIB, 3), (2, 1), "InvalidPartOrder"),
    ],
)
def test_parts_that_make_no_object_are_refused(s3: Any, sizes: tuple[int, ...], chosen: tuple[int, ...], code: str) -> None:
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="a")["UploadId"]
    tag = '"x"'
    for number, size in enumerate(sizes, 1):
        tag = s3.upload_part(Bucket=BUCKET, Key="a", UploadId=upload, PartNumber=number, Body=b"x" * size)["ETag"]
    tags = {item["PartNumber"]: item["ETag"] for item in s3.list_parts(Bucket=BUCKET, Key="a", UploadId=upload)["Parts"]}
    parts = [{"PartNumber": number, "ETag": tags.get(number, tag)} for number in chosen]
    with pytest.raises(ClientError) as error:
        s3.complete_multipart_upload(Bucket=BUCKET, Key="a", UploadId=upload, MultipartUpload={"Parts": parts})
    assert code_of(error)[1] == code


def test_an_upload_that_was_aborted_takes_no_part(s3: Any) -> None:
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="a")["UploadId"]
    s3.abort_multipart_upload(Bucket=BUCKET, Key="a", UploadId=upload)
    with pytest.raises(s3.exceptions.NoSuchUpload):
        s3.upload_part(Bucket=BUCKET, Key="a", UploadId=upload, PartNumber=1, Body=b"x")


def test_of_uploads_in_parts_only_the_first_creates_an_object(s3: Any) -> None:
    put(s3, "a", b"first")
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="a")["UploadId"]
    tag = s3.upload_part(Bucket=BUCKET, Key="a", UploadId=upload, PartNumber=1, Body=b"x")["ETag"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": tag}]}
    with pytest.raises(ClientError) as error:
        s3.complete_multipart_upload(Bucket=BUCKET, Key="a", UploadId=upload, MultipartUpload=parts, IfNoneMatch="*")
    assert code_of(error) == (412, "PreconditionFailed")
    assert s3.get_object(Bucket=BUCKET, Key="a")["Body"].read() == b"first"


@pytest.mark.parametrize(
    "digest", [{"ContentMD5": "1B2M2Y8AsgTpgAmY7PhCfg=="}, {"ChecksumSHA256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}]
)
def test_a_content_that_changed_on_the_way_is_refused(s3: Any, digest: dict[str, str]) -> None:
    with pytest.raises(ClientError) as error:
        put(s3, "a", b"x", **digest)
    assert code_of(error)[0] == 400
    assert s3.list_objects_v2(Bucket=BUCKET)["KeyCount"] == 0


def test_buckets_are_created_listed_and_deleted_when_empty(store: RunningStore) -> None:
    s3 = store.s3()
    s3.create_bucket(Bucket="another")
    assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == ["a-project-files", "a-project-other", "another"]
    s3.head_bucket(Bucket="another")
    s3.put_object(Bucket="another", Key="a", Body=b"")
    with pytest.raises(ClientError) as error:
        s3.delete_bucket(Bucket="another")
    assert code_of(error) == (409, "BucketNotEmpty")
    s3.delete_object(Bucket="another", Key="a")
    s3.delete_bucket(Bucket="another")
    with pytest.raises(ClientError) as error:
        s3.head_bucket(Bucket="another")
    assert code_of(error)[0] == 404


def test_a_request_after_one_that_was_refused_is_read_from_its_beginning(s3: Any) -> None:
    put(s3, "a", b"1")
    for _ in range(3):
        with pytest.raises(ClientError) as error:
            put(s3, "a", b"2", ContentEncoding="aws-chunked")  # refused before its body is sent
        assert code_of(error) == (501, "NotImplemented")
        assert s3.get_object(Bucket=BUCKET, Key="a")["Body"].read() == b"1"
