"""AWS Signature Version 4 of a request to S3, in its headers.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html; botocore judges it in the tests.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

from ferryman.domain.files.access import S3Access

ALGORITHM = "AWS4-HMAC-SHA256"
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
"""Of a request without a body."""


def sign_request(
    access: S3Access,
    method: str,
    path: str,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    digest: str,
    *,
    at: datetime,
) -> dict[str, str]:
    """Return all headers of a request, the signature among them.

    `path` is encoded already, names in `headers` are in lower case, and their values have no spaces in a row. What is signed:
    all headers, the host, the time `at` (UTC), and the content's SHA-256.
    """
    moment, scope = format_moment(at), build_scope(access, at)
    host = access.endpoint.partition("://")[2]
    signed = {**headers, "host": host, "x-amz-content-sha256": digest, "x-amz-date": moment}
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name].strip()}\n" for name in sorted(signed))
    canonical = "\n".join((method, path, encode_query(query), lines, names, digest))
    text = "\n".join((ALGORITHM, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    signature = compute_signature(access, scope, text)
    credential = f"{ALGORITHM} Credential={access.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**signed, "authorization": credential}


def format_moment(at: datetime) -> str:
    """Return a time (UTC) as signatures have it."""
    return at.strftime("%Y%m%dT%H%M%SZ")


def build_scope(access: S3Access, at: datetime) -> str:
    """Return what a signature is good for beside its own request: the day, the region, the service."""
    return f"{at:%Y%m%d}/{access.region}/s3/aws4_request"


def compute_signature(access: S3Access, scope: str, text: str) -> str:
    """Return the signature of a text by the access key, in hexadecimal."""
    key = f"AWS4{access.secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def encode_query(query: Mapping[str, str]) -> str:
    """Return a query in the order and the encoding that are signed."""
    encoded = sorted((quote(name, safe=""), quote(value, safe="")) for name, value in query.items())
    return "&".join(f"{name}={value}" for name, value in encoded)


def encode_path(*parts: str) -> str:
    """Return a path of these parts, whose slashes stay."""
    return "".join("/" + quote(part, safe="/") for part in parts)
