"""Signed URLs of version 4, which need no header: of S3 by an access key, and of Google Cloud Storage by an account.

https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html and
https://cloud.google.com/storage/docs/authentication/canonical-requests; boto3 and Google's client judge them in the tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime

from ferryman.domain.files.access import S3Access
from ferryman.objects.signing import ALGORITHM, build_scope, compute_signature, encode_query, format_moment

GOOGLE_ALGORITHM = "GOOG4-RSA-SHA256"
UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"
_DEFAULT_PORTS = {"https": ":443", "http": ":80"}


def presign_s3(access: S3Access, path: str, query: Mapping[str, str], *, at: datetime, lifetime_s: int) -> str:
    """Return a URL that may be asked for with GET until `lifetime_s` after `at` (UTC). `path` is encoded already."""
    scope = build_scope(access, at)
    url, text = _prepare(
        "X-Amz", ALGORITHM, f"{access.access_key}/{scope}", access.endpoint, path, query, at=at, lifetime_s=lifetime_s
    )
    return f"{url}&X-Amz-Signature={compute_signature(access, scope, text)}"


def prepare_google(
    account: str, root: str, path: str, query: Mapping[str, str], *, at: datetime, lifetime_s: int
) -> tuple[str, bytes]:
    """Return such a URL without its signature, and what `account` has to sign: RSA with SHA-256, `add_google_signature`."""
    scope = f"{at:%Y%m%d}/auto/storage/goog4_request"
    url, text = _prepare("X-Goog", GOOGLE_ALGORITHM, f"{account}/{scope}", root, path, query, at=at, lifetime_s=lifetime_s)
    return url, text.encode()


def add_google_signature(url: str, signature: bytes) -> str:
    """Return the whole URL."""
    return f"{url}&X-Goog-Signature={signature.hex()}"


def _prepare(
    prefix: str,
    algorithm: str,
    credential: str,
    root: str,
    path: str,
    query: Mapping[str, str],
    *,
    at: datetime,
    lifetime_s: int,
) -> tuple[str, str]:
    """Return the URL without its signature, and the text that is signed: the method, the host, the path and all parameters."""
    scheme, _, host = root.partition("://")
    host = host.removesuffix(_DEFAULT_PORTS[scheme])  # browsers leave it out
    moment = format_moment(at)
    values = {"Algorithm": algorithm, "Credential": credential, "Date": moment, "Expires": str(lifetime_s)}
    encoded = encode_query(
        {**query, **{f"{prefix}-{name}": text for name, text in values.items()}, f"{prefix}-SignedHeaders": "host"}
    )
    canonical = "\n".join(("GET", path, encoded, f"host:{host}\n", "host", UNSIGNED_PAYLOAD))
    scope = credential.split("/", 1)[1]
    text = "\n".join((algorithm, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    return f"{scheme}://{host}{path}?{encoded}", text
