"""Who may do what: each port has its caller, and every call of both services is judged by what that one may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from google.api_core import exceptions
from google.cloud import storage

from emulator.objects.callers import derive_secret

from .conftest import BUCKET, CALLERS, OTHER, RunningStore

Use = Callable[[storage.Bucket], object]
OBJECTS: dict[str, Use] = {
    "create": lambda bucket: bucket.blob("new").upload_from_string(b""),
    "resumable": lambda bucket: bucket.blob("new").create_resumable_upload_session(),
    "get": lambda bucket: bucket.blob("a").reload(),
    "download": lambda bucket: bucket.blob("a").download_as_bytes(),
    "list": lambda bucket: list(bucket.list_blobs()),
    "patch": lambda bucket: bucket.blob("a").patch(),
    "delete": lambda bucket: bucket.blob("a").delete(),
}
BUCKETS: dict[str, Use] = {
    "create a bucket": lambda bucket: bucket.client.create_bucket("another"),
    "get a bucket": lambda bucket: bucket.reload(),
    "list buckets": lambda bucket: list(bucket.client.list_buckets()),
    "delete a bucket": lambda bucket: bucket.delete(),
}
S3: dict[str, Callable[[Any, str], object]] = {
    "put": lambda s3, bucket: s3.put_object(Bucket=bucket, Key="new", Body=b""),
    "get": lambda s3, bucket: s3.get_object(Bucket=bucket, Key="a"),
    "head": lambda s3, bucket: s3.head_object(Bucket=bucket, Key="a"),
    "list": lambda s3, bucket: s3.list_objects_v2(Bucket=bucket),
    "upload in parts": lambda s3, bucket: s3.create_multipart_upload(Bucket=bucket, Key="new"),
    "delete": lambda s3, bucket: s3.delete_object(Bucket=bucket, Key="a"),
}


@pytest.fixture(autouse=True)
def fill_buckets(store: RunningStore) -> None:
    """An object in each bucket."""
    for name in (BUCKET, OTHER):
        store.google().bucket(name).blob("a").upload_from_string(b"secret")


@pytest.mark.parametrize("use", OBJECTS)
def test_objects_are_for_who_administers_their_bucket(store: RunningStore, use: str) -> None:
    for name, bucket in (("stranger", BUCKET), ("files", OTHER), ("files", "nobody-s-bucket")):
        with pytest.raises(exceptions.Forbidden):
            OBJECTS[use](store.google(name).bucket(bucket))
    OBJECTS[use](store.google("files").bucket(BUCKET))


@pytest.mark.parametrize("use", BUCKETS)
def test_buckets_are_the_operator_s(store: RunningStore, use: str) -> None:
    for name in ("files", "stranger"):
        with pytest.raises(exceptions.Forbidden):
            BUCKETS[use](store.google(name).bucket(BUCKET))


@pytest.mark.parametrize("use", S3)
def test_the_same_holds_over_s3(store: RunningStore, use: str) -> None:
    for name, bucket in (("stranger", BUCKET), ("files", OTHER)):
        with pytest.raises(ClientError) as error:
            S3[use](store.s3(name), bucket)
        assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    S3[use](store.s3("files"), BUCKET)


@pytest.mark.parametrize("token", ["x", "owner", CALLERS["stranger"].token.value, CALLERS["operator"].token.value])
def test_a_port_takes_its_own_token_alone(store: RunningStore, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx.get(f"{store.urls['files']}/storage/v1/b/{BUCKET}/o/a?alt=media", headers=headers, trust_env=False)
    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (401, "authError")


@pytest.mark.parametrize(
    ("key", "secret", "code"),
    [
        ("files", "x" * 64, "SignatureDoesNotMatch"),
        ("operator", derive_secret(CALLERS["operator"].token.value), "InvalidAccessKeyId"),
        ("files", CALLERS["files"].token.value, "SignatureDoesNotMatch"),
    ],
)
def test_a_port_takes_its_own_access_key_alone(store: RunningStore, key: str, secret: str, code: str) -> None:
    with pytest.raises(ClientError) as error:
        store.s3("files", secret, key).get_object(Bucket=BUCKET, Key="a")
    assert error.value.response["Error"]["Code"] == code


@pytest.mark.parametrize(
    "path",
    [
        f"/storage/v1/b/{BUCKET}/o",
        f"/storage/v1/b/{BUCKET}/o/a?alt=media",
        f"/download/storage/v1/b/{BUCKET}/o/a?alt=media",
        f"/{BUCKET}/a",
        f"/{BUCKET}",
        "/",
    ],
)
def test_nothing_is_answered_without_a_token(store: RunningStore, path: str) -> None:
    for url in store.urls.values():
        answer = httpx.get(url + path, trust_env=False)
        assert (answer.status_code, b"secret" in answer.content) == (401, False)


def test_the_page_of_another_origin_is_answered_nothing(store: RunningStore) -> None:
    token = CALLERS["operator"].token.value
    headers = {"Authorization": f"Bearer {token}", "Origin": "https://evil.example"}
    answer = httpx.get(f"{store.urls['operator']}/storage/v1/b/{BUCKET}/o/a?alt=media", headers=headers, trust_env=False)
    assert (answer.status_code, b"secret" in answer.content) == (403, False)
