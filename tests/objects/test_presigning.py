"""Signed URLs: botocore and Google's client sign each of them the same."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import httpx
import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from google.auth.credentials import Signing
from google.cloud.storage._signing import generate_signed_url_v4
from google.oauth2.credentials import Credentials as GoogleCredentials
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.files.access import S3Access
from ferryman.domain.files.disposition import write_disposition
from ferryman.domain.files.object import Object
from ferryman.inmemory.clock import ManualClock
from ferryman.objects.account_signer import AccountSigner
from ferryman.objects.google import GoogleObjects
from ferryman.objects.presigning import add_google_signature, prepare_google, presign_s3
from ferryman.objects.s3 import S3Objects
from ferryman.objects.sending import BucketClient
from ferryman.objects.signing import encode_path
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.objects import Objects

from .test_services import always

NOW = datetime(2026, 11, 23, 23, 59, 59, tzinfo=UTC)
ACCOUNT = "ferryman-files@a-project.iam.gserviceaccount.com"
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)
KEYS = TEXTS.filter(lambda text: not text.startswith("/") and not {".", ".."} & set(text.split("/")))
LIVES = st.integers(1, 900)


class StoppedAuth(S3SigV4QueryAuth):
    """botocore's signer of URLs, at NOW."""

    def add_auth(self, request: Any) -> None:
        request.context["timestamp"] = NOW.strftime("%Y%m%dT%H%M%SZ")
        self._modify_request_before_signing(request)
        text = self.string_to_sign(request, self.canonical_request(request))
        self._inject_signature_to_request(request, self.signature(text, request))


class DigestSigner(GoogleCredentials, Signing):  # type: ignore[misc]  # google-auth has no types
    """Credentials whose signatures are digests: of the same text the same one."""

    def __init__(self) -> None:
        super().__init__(token="t")

    def sign_bytes(self, message: bytes) -> bytes:
        return hashlib.sha256(message).digest()

    @property
    def signer_email(self) -> str:
        return ACCOUNT

    @property
    def signer(self) -> Any:
        return self


def build_access(endpoint: str = "https://fra1.example.com") -> S3Access:
    return S3Access(endpoint=endpoint, region="fra1", bucket="files", access_key="KEY", secret_key="a secret")


@given(key=KEYS, disposition=TEXTS, lifetime_s=LIVES, version=st.none() | TEXTS)
def test_a_url_is_signed_as_botocore_signs_it(key: str, disposition: str, lifetime_s: int, version: str | None) -> None:
    access, path = build_access(), encode_path("files", key)
    query = {"response-content-disposition": disposition, **({} if version is None else {"versionId": version})}
    url = presign_s3(access, path, query, at=NOW, lifetime_s=lifetime_s)
    request = AWSRequest("GET", access.endpoint + path, params=query)
    StoppedAuth(Credentials("KEY", "a secret"), "s3", "fra1", expires=lifetime_s).add_auth(request)
    assert sorted(parse_qsl(urlsplit(url).query)) == sorted(parse_qsl(urlsplit(request.url).query))
    assert url.partition("?")[0] == request.url.partition("?")[0]


@given(key=KEYS, disposition=TEXTS, lifetime_s=LIVES, generation=st.integers(1, 2**62))
def test_a_url_is_signed_as_google_s_client_signs_it(key: str, disposition: str, lifetime_s: int, generation: int) -> None:
    query = {"generation": str(generation), "response-content-disposition": disposition, "response-content-type": "a/b"}
    root, path = "https://storage.googleapis.com", encode_path("files", key)
    url, text = prepare_google(ACCOUNT, root, path, query, at=NOW, lifetime_s=lifetime_s)
    theirs = generate_signed_url_v4(
        DigestSigner(),
        resource=f"/files/{quote(key, safe='/~')}",
        expiration=timedelta(seconds=lifetime_s),
        response_type="a/b",
        response_disposition=disposition,
        generation=generation,
        _request_timestamp=NOW.strftime("%Y%m%dT%H%M%SZ"),
    )
    assert add_google_signature(url, hashlib.sha256(text).digest()) == theirs


@pytest.mark.parametrize(
    ("endpoint", "root"),
    [
        ("https://a.test:443", "https://a.test/"),
        ("http://a.test:80", "http://a.test/"),
        ("https://a.test:80", "https://a.test:80/"),
    ],
)
def test_the_host_is_signed_as_a_browser_sends_it(endpoint: str, root: str) -> None:
    url = presign_s3(build_access(endpoint), "/files/a", {}, at=NOW, lifetime_s=1)
    assert url.startswith(f"{root}files/a?")
    # the port is part of the host that is signed, so that each of these is another signature
    assert url != presign_s3(build_access(), "/files/a", {}, at=NOW, lifetime_s=1)


def build_client(status: int, content: bytes, headers: dict[str, str] | None = None) -> BucketClient:
    """Return a client of a service that answers so."""
    transport = httpx.MockTransport(always(status, content, headers))
    return BucketClient(lambda: httpx.AsyncClient(transport=transport))


HEAD = {"etag": '"1"', "content-length": "1", "last-modified": "Mon, 23 Nov 2026 12:00:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "bound"), [({}, False), ({"x-amz-version-id": "null"}, False), ({"x-amz-version-id": "v-null.1"}, True)]
)
async def test_a_link_of_a_bucket_that_keeps_versions_is_bound_to_one(headers: dict[str, str], bound: bool) -> None:
    objects = S3Objects(build_client(200, b"", {**HEAD, **headers}), build_access(), ManualClock())
    stored = await objects.head("a")
    assert stored is not None
    link = await objects.link(stored, disposition="attachment", lifetime=timedelta(seconds=60))
    assert (link.is_bound, "versionId=v-null.1" in link.url) == (bound, bound)


def build_google(status: int, content: bytes) -> Objects:
    """Return a bucket of Google's whose account is answered so when it asks for a signature."""
    client = build_client(status, content)

    async def say(text: str = ACCOUNT) -> str:
        return text

    signer = AccountSigner(client, email=say, token=say)
    return GoogleObjects(client, "files", token=say, signer=signer, clock=ManualClock())


STORED = Object(key="a", size_bytes=1, version="1", updated_at=NOW, content_type="text/plain")


@pytest.mark.parametrize(
    ("status", "content", "error"),
    [
        (403, b"", RejectedError),
        (503, b"", UnavailableError),
        (200, b"{}", UnavailableError),
        (200, b"null", UnavailableError),
        (200, b'{"signedBlob": "-"}', UnavailableError),
        (200, b"<", UnavailableError),
    ],
)
async def test_without_a_signature_there_is_no_link(status: int, content: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        await build_google(status, content).link(STORED, disposition="attachment", lifetime=timedelta(seconds=60))


async def test_an_account_that_may_not_sign_is_told_what_it_needs() -> None:
    with pytest.raises(RejectedError, match=r"roles/iam\.serviceAccountTokenCreator"):
        await build_google(403, b"").link(STORED, disposition="attachment", lifetime=timedelta(seconds=60))


@given(key=KEYS)
def test_no_name_of_a_file_adds_anything_to_the_header_that_is_signed(key: str) -> None:
    text = write_disposition(key + '\r\nset-cookie: a=b"; filename="x')
    assert text.startswith('attachment; filename="')
    assert (text.count('"'), text.count(";"), text.isascii(), text.isprintable()) == (2, 2, True, True)
    assert len(write_disposition("'" * 2_000)) <= 1_024
