"""Objects at /BUCKET/NAME: read, written and deleted, by S3's clients and through signed URLs of Cloud Storage."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import google_crc32c
from starlette.responses import Response

from emulator.objects.conditions import (
    check_conditions,
    check_etags,
    parse_number,
    read_header_conditions,
    read_range,
)
from emulator.objects.errors import StorageError, invalid, missing_object, unsupported, wrong_digest
from emulator.objects.exchange import Download, StorageRequest
from emulator.objects.names import check_about, check_object
from emulator.objects.storing import store_content, write_content
from emulator.objects.values import ObjectAbout, StoredObject
from emulator.objects.xml import HEADERS, build_object_headers

DEFAULT_TYPE = "binary/octet-stream"
OVERRIDES = {
    f"response-{name}": name
    for name in ("content-type", "content-disposition", "content-language", "content-encoding", "cache-control")
}
"""Parameters of a download that set a header of its answer."""
CHECKSUMS = "x-amz-checksum-"
NOT_CHECKSUMS = ("x-amz-checksum-mode", "x-amz-checksum-type", "x-amz-checksum-algorithm")


class Crc32:
    """CRC-32, as the checksums of S3 have it."""

    def __init__(self) -> None:
        self._value = 0

    def update(self, data: bytes) -> None:
        self._value = zlib.crc32(data, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(4, "big")


ALGORITHMS: Mapping[str, Any] = {
    "crc32": Crc32,
    "crc32c": google_crc32c.Checksum,
    "sha1": lambda: hashlib.sha1(usedforsecurity=False),
    "sha256": hashlib.sha256,
}


def get_prefix(exchange: StorageRequest) -> str:
    """Return how headers of the service begin that the caller speaks to."""
    return "x-goog-" if "X-Goog-Algorithm" in exchange.query else "x-amz-"


async def answer_object(exchange: StorageRequest) -> Response:
    """Return what a request about an object is answered; raise StorageError."""
    bucket, name = exchange.path[0], "/".join(exchange.path[1:])
    match exchange.request.method:
        case "GET" | "HEAD":
            return _read(exchange, bucket, name)
        case "PUT":
            return await _write(exchange, bucket, name)
        case "DELETE":
            return _delete(exchange, bucket, name)
    raise unsupported(f"{exchange.request.method} of an object")


def check_headers(exchange: StorageRequest, stored: StoredObject | None, bucket: str, name: str, *, reads: bool) -> None:
    """Raise StorageError unless the conditions in the headers are met."""
    check_etags(stored, exchange.headers, reads=reads, names=(bucket, name))
    check_conditions(stored, read_header_conditions(exchange.headers), reads=reads)


def _read(exchange: StorageRequest, bucket: str, name: str) -> Response:
    exchange.open_bucket("storage.objects.get", bucket)
    stored = exchange.store.find(bucket, name)
    generation = exchange.query.get("generation")
    if stored is None or (generation is not None and parse_number("generation", generation) != stored.generation):
        raise missing_object(bucket, name)
    check_headers(exchange, stored, bucket, name, reads=True)
    headers = build_object_headers(stored, get_prefix(exchange))
    headers |= {header: exchange.query[name] for name, header in OVERRIDES.items() if name in exchange.query}
    check_about("", {name: exchange.query[name] for name in OVERRIDES if name in exchange.query}, {})
    part = read_range(exchange.headers.get("range"), stored.size)
    start, end = part or (0, stored.size)
    if part is not None:
        headers["content-range"] = f"bytes {start}-{end - 1}/{stored.size}"
    status = 200 if part is None else 206
    if exchange.request.method == "HEAD":
        return Response(status_code=status, headers={**headers, "content-length": str(end - start)})
    return Download(exchange.store, stored, start, end, status_code=status, headers=headers)


async def _write(exchange: StorageRequest, bucket: str, name: str) -> Response:
    exchange.open_bucket("storage.objects.create", bucket)
    check_object(name)
    about = read_about_headers(exchange)
    writer = await write_content(exchange.store, check_body(exchange))
    stored = store_content(
        exchange.store,
        writer,
        bucket=bucket,
        name=name,
        about=about,
        check=lambda current: check_headers(exchange, current, bucket, name, reads=False),
        digests={"md5Hash": exchange.headers.get("content-md5")},
    )
    headers = {"etag": f'"{stored.etag}"'}
    if get_prefix(exchange) == "x-goog-":
        headers["x-goog-generation"] = str(stored.generation)
    return Response(headers=headers)


def _delete(exchange: StorageRequest, bucket: str, name: str) -> Response:
    exchange.open_bucket("storage.objects.delete", bucket)
    stored = exchange.store.find(bucket, name)
    if stored is None and get_prefix(exchange) == "x-goog-":
        raise missing_object(bucket, name)
    if stored is not None:
        check_headers(exchange, stored, bucket, name, reads=False)
        exchange.store.remove(stored)
    return Response(status_code=204)


def read_about_headers(exchange: StorageRequest) -> ObjectAbout:
    """Return what the headers of a request say of the object that it writes; raise StorageError."""
    headers, prefix = exchange.headers, get_prefix(exchange)
    if "x-amz-copy-source" in headers or "x-goog-copy-source" in headers:
        raise unsupported("A copy of an object")
    if "aws-chunked" in headers.get("content-encoding", "") or "x-amz-decoded-content-length" in headers:
        raise unsupported("A body with a signature or a checksum in its chunks (aws-chunked)")
    marked = [
        name for name in ("tagging", "acl", "server-side-encryption", "website-redirect-location") if f"x-amz-{name}" in headers
    ]
    if marked:
        raise unsupported(f"The header x-amz-{marked[0]}")
    start = f"{prefix}meta-"
    about = ObjectAbout(
        content_type=headers.get("content-type", DEFAULT_TYPE),
        texts={name: headers[header] for name, header in HEADERS.items() if header in headers},
        metadata={
            key.removeprefix(start): value.encode("latin-1").decode("utf-8", "replace")
            for key, value in headers.items()
            if key.startswith(start)
        },
    )
    check_about(about.content_type, about.texts, about.metadata)
    return about


async def check_body(exchange: StorageRequest) -> AsyncIterator[bytes]:
    """Yield the body of a request; raise StorageError at its end unless it has the checksums that its headers state."""
    stated = {
        name.removeprefix(CHECKSUMS): value
        for name, value in exchange.headers.items()
        if name.startswith(CHECKSUMS) and name not in NOT_CHECKSUMS
    }
    if unknown := sorted(stated.keys() - ALGORITHMS.keys()):
        raise unsupported(f"The checksum {unknown[0]}")
    running = {name: ALGORITHMS[name]() for name in stated}
    async for data in exchange.stream():
        for checksum in running.values():
            checksum.update(data)
        yield data
    for name, checksum in running.items():
        try:
            expected = base64.b64decode(stated[name], validate=True)
        except binascii.Error as error:
            raise invalid(f"The checksum {name} must be in base64.") from error
        if expected != checksum.digest():
            raise wrong_digest(name.upper())


def parse_part_number(text: str) -> int:
    """Return the number of a part, 1 to 10,000; raise StorageError."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
    if not 1 <= number <= 10_000:
        raise StorageError(400, "invalid", "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
    return number
