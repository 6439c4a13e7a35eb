"""What differs from production: refused where it would be done otherwise."""

from __future__ import annotations

import gzip
from typing import Any

import httpx
import pytest

from .conftest import BUCKET, CALLERS, RunningStore

JSON = f"/storage/v1/b/{BUCKET}/o"


def send(store: RunningStore, method: str, path: str, **more: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {CALLERS['operator'].token.value}"}
    return httpx.request(method, store.urls["operator"] + path, headers=headers, trust_env=False, **more)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", f"{JSON}/a/copyTo/b/{BUCKET}/o/b", {}),
        ("POST", f"{JSON}/a/rewriteTo/b/{BUCKET}/o/b", {}),
        ("POST", f"{JSON}/a/moveTo/o/b", {}),
        ("POST", f"{JSON}/a/compose", {}),
        ("GET", f"{JSON}/a/acl", None),
        ("PUT", f"{JSON}/a", {}),
        ("GET", f"{JSON}?matchGlob=*", None),
        ("GET", f"{JSON}?softDeleted=true", None),
        ("PATCH", f"{JSON}/a", {"temporaryHold": True}),
        ("PATCH", f"{JSON}/a", {"storageClass": "COLDLINE"}),
        ("POST", "/storage/v1/b?project=p", {"name": "versioned", "versioning": {"enabled": True}}),
        ("POST", "/storage/v1/b?project=p", {"name": "lifecycle", "lifecycle": {"rule": [{}]}}),
        ("PATCH", f"/storage/v1/b/{BUCKET}", {}),
        ("GET", "/storage/v1/projects/p/serviceAccount", None),
        ("POST", "/batch/storage/v1", None),
    ],
)
def test_what_is_not_served_is_refused(store: RunningStore, method: str, path: str, body: Any) -> None:
    store.google().bucket(BUCKET).blob("a").upload_from_string(b"1")
    assert send(store, method, path, json=body).status_code == 501


def test_what_is_stored_packed_is_sent_packed(store: RunningStore) -> None:
    blob, packed = store.google().bucket(BUCKET).blob("a"), gzip.compress(b"1")
    blob.content_encoding = "gzip"
    blob.upload_from_string(packed)
    assert blob.download_as_bytes(raw_download=True) == packed
    assert blob.download_as_bytes() == b"1"  # the client unpacks it


def test_all_fields_are_answered(store: RunningStore) -> None:
    store.google().bucket(BUCKET).blob("a").upload_from_string(b"1")
    assert "size" in send(store, "GET", f"{JSON}/a?fields=name").json()


def test_no_url_of_s3_names_a_version(store: RunningStore) -> None:
    store.google().bucket(BUCKET).blob("a").upload_from_string(b"1")
    url = store.s3().generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "a", "VersionId": "1"}, ExpiresIn=60)
    assert httpx.get(url, trust_env=False).status_code == 501


def test_s3_has_no_chunks_and_no_dates(store: RunningStore) -> None:
    s3 = store.s3()
    s3.put_object(Bucket=BUCKET, Key="a", Body=b"1")
    with pytest.raises(Exception, match="aws-chunked"):
        s3.put_object(Bucket=BUCKET, Key="b", Body=b"1", ContentEncoding="aws-chunked")
    with pytest.raises(Exception, match="if-modified-since"):
        s3.get_object(Bucket=BUCKET, Key="a", IfModifiedSince=0)
