"""Signed requests and URLs: those that Google's client and boto3 sign count, and none that was changed since."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as Keys
from google.auth import iam
from google.auth.credentials import Signing
from google.auth.transport.requests import Request
from google.cloud.storage._signing import generate_signed_url_v4
from google.oauth2.credentials import Credentials

from emulator.objects.callers import derive_secret

from .conftest import BUCKET, CALLERS, OTHER, RunningStore, run_with_buckets

NAME = "a/Zürich ☂ 100%+?&#=~.txt"
HOUR = timedelta(hours=1)


class LocalSigner(Credentials, Signing):  # type: ignore[misc]  # google-auth has no types
    """Credentials of a service account that signs by asking `signBlob`, as a function does that has no key of its own."""

    def __init__(self, url: str, token: str, email: str) -> None:
        super().__init__(token=token)
        self._url, self._email = url, email

    def sign_bytes(self, message: bytes) -> Any:
        request = Request()
        request.session.trust_env = False

        def send(url: str, **more: Any) -> Any:
            return request(url=self._url + url.partition("googleapis.com")[2].removeprefix(":443"), **more)

        return iam.Signer(send, self, self._email).sign(message)

    @property
    def signer_email(self) -> str:
        return self._email

    @property
    def signer(self) -> Any:
        return self


def sign_as(store: RunningStore, name: str, account: str | None = None) -> LocalSigner:
    return LocalSigner(store.urls[name], CALLERS[name].token.value, CALLERS[account or name].email)


def sign(store: RunningStore, name: str = "files", *, bucket: str = BUCKET, **more: Any) -> str:
    """Return a URL of version 4, as Google's client signs it."""
    blob = store.google(name).bucket(bucket).blob(NAME)
    options = {"version": "v4", "expiration": HOUR, "credentials": sign_as(store, name)}
    return str(blob.generate_signed_url(**options, api_access_endpoint=store.urls[name], **more))


@pytest.fixture(scope="module")
def store() -> Iterator[RunningStore]:
    """One store for all tests: to make the key of an account takes longer than any of them."""
    with run_with_buckets() as running:
        yield running


@pytest.fixture(autouse=True)
def fill_buckets(store: RunningStore) -> None:
    """An object in each bucket."""
    for name in (BUCKET, OTHER):
        store.google().bucket(name).blob(NAME).upload_from_string(b"content", content_type="text/html")


def get(url: str, **more: Any) -> httpx.Response:
    return httpx.get(url, trust_env=False, **more)


def test_a_signed_url_downloads_an_object_as_an_attachment(store: RunningStore) -> None:
    answer = get(sign(store, response_disposition='attachment; filename="a.txt"', response_type="text/plain"))
    assert (answer.status_code, answer.content) == (200, b"content")
    assert answer.headers["content-disposition"] == 'attachment; filename="a.txt"'
    assert answer.headers["content-type"] == "text/plain"
    assert "x-goog-generation" in answer.headers


def test_a_signed_url_names_a_generation(store: RunningStore) -> None:
    blob = store.google("files").bucket(BUCKET).get_blob(NAME)
    url = sign(store, generation=blob.generation)
    assert get(url).content == b"content"
    blob.upload_from_string(b"new")
    assert get(url).status_code == 404


def test_a_part_is_read_through_a_signed_url(store: RunningStore) -> None:
    answer = get(sign(store), headers={"Range": "bytes=3-"})
    assert (answer.status_code, answer.content, answer.headers["content-range"]) == (206, b"tent", "bytes 3-6/7")


def test_a_signed_url_uploads_what_it_was_signed_for(store: RunningStore) -> None:
    url = sign(store, method="PUT", content_type="text/plain; charset=utf-8", headers={"x-goog-if-generation-match": "0"})
    headers = {"Content-Type": "text/plain; charset=utf-8", "x-goog-if-generation-match": "0"}
    assert httpx.put(url, content=b"2", headers=headers, trust_env=False).status_code == 412
    store.google().bucket(BUCKET).blob(NAME).delete()
    assert httpx.put(url, content=b"2", headers=headers, trust_env=False).status_code == 200
    for other in ({"Content-Type": "text/html"}, {**headers, "x-goog-meta-a": "b"}, {**headers, "Content-Type": "text/html"}):
        assert httpx.put(url, content=b"3", headers=other, trust_env=False).status_code in (400, 403)
    assert store.google("files").bucket(BUCKET).get_blob(NAME).content_type == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a/Z", "b/Z"),
        (BUCKET, OTHER),
        ("X-Goog-Expires=3600", "X-Goog-Expires=36000"),
        ("X-Goog-Signature=", "X-Goog-Signature=00"),
        ("X-Goog-Signature=", "X-Goog-Signature=x"),
        ("X-Goog-Credential=files", "X-Goog-Credential=operator"),
        ("X-Goog-Algorithm", "response-content-type=text%2Fplain&X-Goog-Algorithm"),
    ],
)
def test_a_url_that_was_changed_opens_nothing(store: RunningStore, before: str, after: str) -> None:
    url = sign(store)
    assert before in url
    assert get(url.replace(before, after)).status_code == 403


def test_a_url_for_reading_does_not_write(store: RunningStore) -> None:
    url = sign(store)
    assert httpx.put(url, content=b"x", trust_env=False).status_code == 403
    assert httpx.delete(url, trust_env=False).status_code == 403


def test_a_url_ends_at_its_time(store: RunningStore) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    for start, status in ((yesterday, 400), (yesterday + timedelta(days=2), 403)):
        url = generate_signed_url_v4(
            sign_as(store, "files"),
            resource=f"/{BUCKET}/{quote(NAME, safe='/~')}",
            expiration=HOUR,
            api_access_endpoint=store.urls["files"],
            _request_timestamp=start.strftime("%Y%m%dT%H%M%SZ"),
        )
        assert get(url).status_code == status


def test_a_signer_opens_what_it_may_open_itself(store: RunningStore) -> None:
    assert get(sign(store, bucket=OTHER)).status_code == 403


def test_a_function_signs_as_itself_if_it_may(store: RunningStore) -> None:
    for name, account in (("files", "operator"), ("stranger", "stranger"), ("stranger", "files")):
        with pytest.raises(Exception, match="signBlob"):
            sign_as(store, name, account).sign_bytes(b"x")


def presign(store: RunningStore, **more: Any) -> str:
    params = {"Bucket": BUCKET, "Key": NAME, **more}
    return str(store.s3("files").generate_presigned_url("get_object", Params=params, ExpiresIn=60))


def test_boto3_signs_urls_too(store: RunningStore) -> None:
    answer = get(presign(store, ResponseContentDisposition="attachment"))
    assert (answer.content, answer.headers["content-disposition"]) == (b"content", "attachment")


@pytest.mark.parametrize(("before", "after"), [("a/Z", "b/Z"), ("Expires=60", "Expires=61"), ("attachment", "inline")])
def test_a_url_of_boto3_s_that_was_changed_opens_nothing(store: RunningStore, before: str, after: str) -> None:
    url = presign(store, ResponseContentDisposition="attachment")
    assert before in url
    assert get(url.replace(before, after)).status_code == 403


def signed_put(store: RunningStore, body: bytes) -> httpx.Request:
    """Return a request that botocore signed, with its body."""
    request = AWSRequest("PUT", f"{store.urls['files']}/{BUCKET}/b", headers={"x-amz-meta-a": "b"}, data=body)
    S3SigV4Auth(Keys("files", derive_secret(CALLERS["files"].token.value)), "s3", "fra1").add_auth(request)
    return httpx.Request("PUT", request.url, headers=dict(request.headers), content=body)


def test_a_request_is_signed_with_its_headers_and_its_body(store: RunningStore) -> None:
    with httpx.Client(trust_env=False) as client:
        sent = signed_put(store, b"1")
        assert client.send(sent).status_code == 200
        sent.headers["x-amz-meta-a"] = "c"
        assert client.send(sent).status_code == 403
        sent = signed_put(store, b"1")
        sent.headers["x-amz-meta-more"] = "c"
        assert client.send(sent).status_code == 400
        other = signed_put(store, b"1")
        changed = httpx.Request("PUT", other.url, headers=other.headers, content=b"2")
        assert client.send(changed).status_code == 400
        sent = signed_put(store, b"1")
        sent.headers["x-amz-date"] = "20200101T000000Z"
        assert client.send(sent).status_code in (400, 403)
    assert store.google().bucket(BUCKET).blob("b").download_as_bytes() == b"1"


@pytest.mark.parametrize(
    "query",
    [
        "X-Goog-Algorithm=GOOG4-RSA-SHA256",
        "X-Goog-Algorithm=AWS4-HMAC-SHA256",
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=files/20261123/r/s3/aws4_request",
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=9&X-Amz-Date=99991231T235959Z&X-Amz-SignedHeaders=host"
        "&X-Amz-Credential=files/99991231/r/s3/aws4_request&X-Amz-Signature=%C3%BC",
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=604800&X-Amz-Date=00010101T000000Z&X-Amz-SignedHeaders=host"
        "&X-Amz-Credential=files/00010101/r/s3/aws4_request&X-Amz-Signature=%C3%BC",
        "X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Expires=604801",
        "X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Expires=%D9%A9",
    ],
)
def test_a_broken_signature_is_refused(store: RunningStore, query: str) -> None:
    for name in ("files", "operator"):
        assert get(f"{store.urls[name]}/{BUCKET}/{NAME[0]}?{query}").status_code in (400, 403)


def test_a_signature_that_is_no_ascii_is_refused(store: RunningStore) -> None:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    credential = f"files/{moment[:8]}/r/s3/aws4_request"
    query = f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=9&X-Amz-Date={moment}&X-Amz-SignedHeaders=host"
    answer = get(f"{store.urls['files']}/{BUCKET}/a?{query}&X-Amz-Credential={credential}&X-Amz-Signature=%C3%BC")
    assert (answer.status_code, "SignatureDoesNotMatch" in answer.text) == (403, True)
