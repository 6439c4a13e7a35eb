"""Uploads that can be resumed: sessions that last a week, and take a content in pieces, also after a restart.

https://cloud.google.com/storage/docs/performing-resumable-uploads
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from emulator.objects.conditions import check_conditions, read_conditions
from emulator.objects.contents import ContentWriter
from emulator.objects.errors import StorageError, invalid, missing_upload
from emulator.objects.exchange import StorageRequest
from emulator.objects.names import check_object
from emulator.objects.resources import read_about, show_object
from emulator.objects.store import ObjectStore
from emulator.objects.storing import store_content

KIND = "resumable"
LIFETIME_US = int(timedelta(days=7).total_seconds() * 1_000_000)
CONTENT_RANGE = re.compile(r"bytes (?:(\d{1,19})-(\d{1,19})|\*)/(\d{1,19}|\*)", re.ASCII)
GOOG_HASH = {"crc32c": "crc32c", "md5": "md5Hash"}


class ResumableUploads:
    """The sessions. Their writers are in memory; after a restart each is made again from the chunks that are stored."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._writers: dict[str, ContentWriter] = {}
        self._busy: set[str] = set()

    async def begin(self, exchange: StorageRequest, bucket: str) -> Response:
        """Return the address of a new session; raise StorageError for what could not be stored in the end."""
        source = await exchange.read_json()
        name = check_object(str(source.get("name") or exchange.query.get("name") or ""))
        if source.get("contentType") is None:
            source["contentType"] = exchange.headers.get("x-upload-content-type")
        read_about(source)
        conditions = read_conditions(exchange.query)
        check_conditions(self._store.find(bucket, name), conditions, reads=False)
        self._forget_old()
        upload, writer = secrets.token_urlsafe(48), ContentWriter(self._store.contents)
        state = {"source": source, "conditions": conditions, "length": exchange.headers.get("x-upload-content-length")}
        row = (upload, bucket, name, KIND, self._store.now(), writer.number, json.dumps(state))
        self._store.db.execute("insert into uploads values (?, ?, ?, ?, ?, ?, ?)", row)
        self._writers[upload] = writer
        where = f"{exchange.root}/upload/storage/v1/b/{bucket}/o?uploadType=resumable&upload_id={upload}"
        return Response(status_code=200, headers={"location": where, "x-guploader-uploadid": upload})

    async def answer(self, exchange: StorageRequest, bucket: str) -> Response:
        """Take a piece, say how far the upload is, or cancel it; return the object with the last piece."""
        upload = exchange.query["upload_id"]
        query = "select name, content, json from uploads where id = ? and bucket = ? and kind = ?"
        row = self._store.db.execute(query, (upload, bucket, KIND)).fetchone()
        if row is None:
            raise missing_upload()
        if upload in self._busy:
            raise StorageError(503, "backendError", "SlowDown", "Another request of this upload is under way.")
        if exchange.request.method == "DELETE":
            self._remove(upload)
            return Response(status_code=499)
        if exchange.request.method not in ("PUT", "POST"):
            raise invalid("A piece of an upload is sent with PUT.")
        self._busy.add(upload)
        try:
            return await self._take(exchange, bucket, upload, row[0], row[1], json.loads(row[2]))
        finally:
            self._busy.discard(upload)

    async def _take(
        self, exchange: StorageRequest, bucket: str, upload: str, name: str, number: int, state: Mapping[str, Any]
    ) -> Response:
        if upload not in self._writers:
            self._writers[upload] = await ContentWriter.reopen(self._store.contents, number)
        writer = self._writers[upload]
        first, total = _read_content_range(exchange.headers.get("content-range"), state["length"])
        if first is not None:
            if first > writer.size:
                raise invalid(f"The upload goes on at byte {writer.size}, not at {first}.")
            try:
                await self._write(exchange, writer, writer.size - first)
            except ClientDisconnect:
                writer.forget_rest()
                raise
        if total is None and exchange.headers.get("content-range") is None:
            total = writer.size  # a single piece, of a length that nobody told
        if total is None or writer.size < total:
            writer.forget_rest()
            headers = {"range": f"bytes=0-{writer.size - 1}"} if writer.size else {}
            return Response(status_code=308, headers=headers)
        if writer.size > total:
            self._remove(upload)
            raise invalid(f"The upload has {writer.size} bytes, more than the {total} that were announced.")
        digests = {**state["source"], **_read_goog_hash(exchange.headers.get("x-goog-hash", ""))}
        try:
            stored = store_content(
                self._store,
                writer,
                bucket=bucket,
                name=name,
                about=read_about(state["source"]),
                check=lambda current: check_conditions(current, state["conditions"], reads=False),
                digests=digests,
                upload=upload,
            )
        except StorageError:
            self._remove(upload)
            raise
        self._writers.pop(upload, None)
        return JSONResponse(show_object(stored, exchange.root))

    @staticmethod
    async def _write(exchange: StorageRequest, writer: ContentWriter, known: int) -> None:
        """Write a body, but for the bytes at its beginning that are known already."""
        async for data in exchange.stream():
            writer.write(data[known:])
            known = max(known - len(data), 0)

    def _remove(self, upload: str) -> None:
        self._writers.pop(upload, None)
        self._store.remove_upload(upload)

    def _forget_old(self) -> None:
        query = "select id from uploads where started < ?"
        for (upload,) in self._store.db.execute(query, (self._store.now() - LIFETIME_US,)).fetchall():
            if upload not in self._busy:
                self._remove(upload)


def _read_content_range(header: str | None, announced: str | None) -> tuple[int | None, int | None]:
    """Return the first byte of the body, None where there is none, and how many the whole has, None where nobody knows."""
    length = int(announced) if announced and announced.isdecimal() and len(announced) < 20 else None
    if header is None:
        return 0, length
    match = CONTENT_RANGE.fullmatch(header)
    if match is None:
        raise invalid("Failed to parse Content-Range header.")
    first, _, total = match.groups()
    return (None if first is None else int(first)), (length if total == "*" else int(total))


def _read_goog_hash(header: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in header.split(",") if part.strip())
    return {GOOG_HASH[name]: value for name, _, value in pairs if name in GOOG_HASH}
