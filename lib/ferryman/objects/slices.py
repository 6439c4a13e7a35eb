"""Parts of objects, read from the answers of their services: the same headers tell the same in both."""

from __future__ import annotations

import re

import httpx

from ferryman.domain.files.object import Object, ObjectChangedError, ObjectMissingError, ObjectSlice
from ferryman.objects.sending import CONFLICT_STATUSES, BucketAnswer
from ferryman.ports.errors import UnavailableError

SLICE_STATUSES = frozenset(
    (httpx.codes.OK, httpx.codes.PARTIAL_CONTENT, httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE, *CONFLICT_STATUSES)
)
"""What services answer to a Range; 200 with the whole where they leave it out of account, as they may (RFC 9110, 14.2)."""

_CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-\d{1,19}/(\d{1,19})", re.ASCII)


def build_range(start: int, size: int) -> str:
    """Return the value of the header Range for `size` bytes from `start` on."""
    return f"bytes={start}-{start + size - 1}"


def raise_conflict(answer: BucketAnswer, key: str) -> None:
    """Raise `ObjectMissingError` or `ObjectChangedError` where that is what a service answers to a read."""
    if answer.status == httpx.codes.NOT_FOUND:
        raise ObjectMissingError(key)
    if answer.status == httpx.codes.PRECONDITION_FAILED:
        raise ObjectChangedError(key)


def read_slice(answer: BucketAnswer, start: int, version: str) -> ObjectSlice:
    """Return the part from `start` on; raise `UnavailableError` for an answer that does not say which part it is."""
    content, size_bytes = answer.content, len(answer.content)
    if answer.status == httpx.codes.PARTIAL_CONTENT:
        parts = _CONTENT_RANGE.fullmatch(answer.headers.get("content-range", ""))
        if parts is None or int(parts[1]) != start:
            raise UnavailableError("the bucket gave a part of an object without saying of which")
        size_bytes = int(parts[2])
    else:
        content = content[start:]
    return ObjectSlice(
        content=content,
        start=start,
        size_bytes=size_bytes,
        content_type=answer.headers.get("content-type", ""),
        version=version,
    )


def build_end(stored: Object | None, start: int, key: str) -> ObjectSlice:
    """Return the part of an object that ends before `start`: nothing. Raise `ObjectMissingError`."""
    if stored is None:
        raise ObjectMissingError(key)
    return ObjectSlice(
        content=b"", start=start, size_bytes=stored.size_bytes, content_type=stored.content_type, version=stored.version
    )
