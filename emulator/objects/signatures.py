"""Signatures of version 4: of requests to S3 with an access key (SigV4), and of URLs by an account of Google's.

Both sign the same canonical form of a request: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
and https://cloud.google.com/storage/docs/authentication/canonical-requests.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote

from starlette.requests import Request

from emulator.objects.errors import StorageError

AWS = "AWS4-HMAC-SHA256"
GOOGLE = "GOOG4-RSA-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
SKEW = timedelta(minutes=15)
LONGEST = timedelta(days=7)
_HEADER = re.compile(r"Credential=([^,\s]+),\s*SignedHeaders=([a-z0-9;-]+),\s*Signature=([0-9a-f]{64})")
_SPACES = re.compile(" +")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSignature:
    """What a request says of its signature. `scope` is date, region, service and the fixed end; `expires` of a URL alone."""

    algorithm: str
    signer: str
    scope: tuple[str, ...]
    date: str
    headers: tuple[str, ...]
    signature: str
    expires: timedelta | None = None
    payload: str = UNSIGNED


def read_signature(request: Request) -> RequestSignature | None:
    """Return the signature in the header or the URL of a request, None for none. Raise StorageError for a broken one."""
    header = request.headers.get("authorization", "")
    if header.startswith(f"{AWS} "):
        match = _HEADER.fullmatch(header.removeprefix(f"{AWS} ").strip())
        if match is None:
            raise malformed("the Authorization header is not as AWS4-HMAC-SHA256 has it")
        credential, headers, signature = match.groups()
        payload = request.headers.get("x-amz-content-sha256", "")
        if not payload:
            raise malformed("the header x-amz-content-sha256 is missing")
        date = request.headers.get("x-amz-date", "")
        return _build(AWS, credential, headers, date, signature, payload=payload)
    query = request.query_params
    for prefix, algorithm in (("X-Amz", AWS), ("X-Goog", GOOGLE)):
        if f"{prefix}-Algorithm" in query:
            if query[f"{prefix}-Algorithm"] != algorithm:
                raise malformed(f"{prefix}-Algorithm must be {algorithm}")
            names = ("Credential", "SignedHeaders", "Date", "Signature", "Expires")
            credential, headers, date, signature, expires = (query.get(f"{prefix}-{name}", "") for name in names)
            if not re.fullmatch("[0-9]{1,6}", expires) or not 0 < int(expires) <= LONGEST.total_seconds():
                raise malformed(f"{prefix}-Expires must be 1 to {int(LONGEST.total_seconds())} seconds")
            of = timedelta(seconds=int(expires))
            payload = request.headers.get("x-goog-content-sha256", UNSIGNED) if algorithm == GOOGLE else UNSIGNED
            return _build(algorithm, credential, headers, date, signature, expires=of, payload=payload)
    return None


def _build(
    algorithm: str,
    credential: str,
    headers: str,
    date: str,
    signature: str,
    *,
    payload: str,
    expires: timedelta | None = None,
) -> RequestSignature:
    signer, *scope = credential.rsplit("/", 4)
    service, end = ("s3", "aws4_request") if algorithm == AWS else ("storage", "goog4_request")
    if len(scope) != 4 or scope[2:] != [service, end] or not date.startswith(scope[0]):
        raise malformed(f"the credential must be KEY/DATE/REGION/{service}/{end}, of the request's own date")
    return RequestSignature(
        algorithm=algorithm,
        signer=signer,
        scope=tuple(scope),
        date=date,
        headers=tuple(headers.split(";")),
        signature=signature,
        expires=expires,
        payload=payload,
    )


def check_time(signature: RequestSignature, now: datetime) -> None:
    """Raise StorageError for a signature of another time, or a URL that has expired."""
    try:
        date = datetime.strptime(signature.date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise malformed("the date must be as in 20261123T120000Z") from None
    if date - now > SKEW or (signature.expires is None and now - date > SKEW):
        message = "The difference between the request time and the server's time is too large."
        raise StorageError(403, "forbidden", "RequestTimeTooSkewed", message)
    if signature.expires is not None and now - date > signature.expires:
        if signature.algorithm == GOOGLE:
            raise StorageError(400, "invalid", "ExpiredToken", "The signed URL has expired.")
        raise StorageError(403, "forbidden", "AccessDenied", "Request has expired")


def build_string_to_sign(request: Request, signature: RequestSignature) -> bytes:
    """Return what must have been signed. Raise StorageError where a header that counts was not."""
    prefix = "x-amz-" if signature.algorithm == AWS else "x-goog-"
    required = {name for name in request.headers if name.startswith(prefix)} | {"host"}
    if missing := sorted(required - set(signature.headers)):
        raise malformed(f"the header {missing[0]} is not signed")
    canonical = "\n".join(
        (
            request.method,
            quote(unquote(request.scope["raw_path"].decode("latin-1")), safe="/~"),
            _canonical_query(request.scope["query_string"].decode("latin-1")),
            *(f"{name}:{_header(request.headers.getlist(name))}" for name in signature.headers),
            "",
            ";".join(signature.headers),
            signature.payload,
        )
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return "\n".join((signature.algorithm, signature.date, "/".join(signature.scope), digest)).encode()


def sign(secret: str, signature: RequestSignature, text: bytes) -> str:
    """Return the signature, in hexadecimal, of a text by an access key's secret."""
    key = f"AWS4{secret}".encode()
    for part in signature.scope:
        key = hmac.digest(key, part.encode(), hashlib.sha256)
    return hmac.digest(key, text, hashlib.sha256).hex()


def malformed(what: str) -> StorageError:
    """Return the error for a signature that could not be checked."""
    return StorageError(400, "invalid", "AuthorizationHeaderMalformed", f"The signature cannot be checked: {what}.")


def mismatch() -> StorageError:
    """Return the error for a signature that is another one."""
    message = "The request signature we calculated does not match the signature you provided."
    return StorageError(403, "forbidden", "SignatureDoesNotMatch", message)


def _canonical_query(text: str) -> str:
    pairs = (pair.partition("=") for pair in text.split("&") if pair)
    encoded = [(quote(unquote(name), safe="~"), quote(unquote(value), safe="~")) for name, _, value in pairs]
    return "&".join(f"{name}={value}" for name, value in sorted(encoded) if name not in ("X-Amz-Signature", "X-Goog-Signature"))


def _header(values: Sequence[str]) -> str:
    return ",".join(_SPACES.sub(" ", value.strip()) for value in values)
