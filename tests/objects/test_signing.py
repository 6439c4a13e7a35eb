"""Signed requests to S3: botocore signs each of them the same."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import example, given
from hypothesis import strategies as st

from ferryman.domain.files.access import S3Access
from ferryman.objects.signing import EMPTY_SHA256, encode_path, encode_query, sign_request

NOW = datetime(2026, 11, 23, 12, 0, 59, tzinfo=UTC)
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=30)
NAMES = st.from_regex("x-amz-meta-[a-z0-9-]{1,8}", fullmatch=True)
VALUES = st.from_regex("[!-~]{1,8}( [!-~]{1,8}){0,2}", fullmatch=True)


def build_access(secret: str = "a secret", region: str = "fra1") -> S3Access:
    return S3Access(
        endpoint="https://fra1.example.com:8443", region=region, bucket="files", access_key="KEY", secret_key=secret
    )


class StoppedAuth(S3SigV4Auth):
    """botocore's signer, at NOW."""

    def add_auth(self, request: Any) -> None:
        request.context["timestamp"] = NOW.strftime("%Y%m%dT%H%M%SZ")
        self._modify_request_before_signing(request)
        text = self.string_to_sign(request, self.canonical_request(request))
        self._inject_signature_to_request(request, self.signature(text, request))


def sign_with_botocore(access: S3Access, method: str, url: str, headers: dict[str, str], content: bytes) -> dict[str, str]:
    """Return the headers that botocore would send."""
    request = AWSRequest(method, url, headers=headers, data=content)
    StoppedAuth(Credentials(access.access_key, access.secret_key), "s3", access.region).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


@given(
    method=st.sampled_from(["GET", "PUT", "HEAD", "DELETE"]),
    key=TEXTS,
    query=st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=4),
    headers=st.dictionaries(NAMES, VALUES, max_size=4),
    content=st.binary(max_size=100),
    secret=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=40),
)
@example(method="GET", key="", query={"a": "", "a0": "", "a.": ""}, headers={}, content=b"", secret="s")
def test_a_request_is_signed_as_botocore_signs_it(
    method: str, key: str, query: dict[str, str], headers: dict[str, str], content: bytes, secret: str
) -> None:
    access = build_access(secret)
    path = encode_path("files", key)
    signed = sign_request(access, method, path, query, headers, hashlib.sha256(content).hexdigest(), at=NOW)
    url = access.endpoint + path + (f"?{encode_query(query)}" if query else "")
    assert signed["authorization"] == sign_with_botocore(access, method, url, headers, content)["authorization"]


@pytest.mark.parametrize("part", ["access_key", "secret_key"])
def test_an_access_key_shows_itself_to_nobody(part: str) -> None:
    access = build_access("a secret of its own")
    assert getattr(access, part) not in repr(access)
    signed = sign_request(access, "GET", "/files", {}, {}, EMPTY_SHA256, at=NOW)
    assert access.secret_key not in repr(signed)
