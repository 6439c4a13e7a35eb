"""Access to a bucket of a service that speaks S3."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Access:
    """Where a bucket is, and the access key that opens it. `endpoint` is a URL without a path, as https://fra1.example.com."""

    endpoint: str
    region: str
    bucket: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
