"""Uploads in parts, as S3 has them: begun, sent part by part in any order, completed in one step or aborted."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from google_crc32c import extend
from starlette.responses import Response

from emulator.objects.errors import StorageError, missing_upload, unsupported
from emulator.objects.exchange import StorageRequest, check_md5
from emulator.objects.names import check_object
from emulator.objects.store import NewObject, ObjectStore
from emulator.objects.storing import write_content
from emulator.objects.values import Digests, ObjectAbout, Segment, format_time
from emulator.objects.xml import Tree, answer_xml, parse_xml
from emulator.objects.xml_objects import check_body, check_headers, parse_part_number, read_about_headers
from emulator.storage import read_moment, transaction

KIND = "parts"
SMALLEST = 5 * 1024 * 1024
"""Bytes in every part but the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedPart:
    """One part as it is stored."""

    number: int
    segment: Segment
    md5: str
    stored: int


class Parts:
    """The uploads in parts of a store."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._completing: set[str] = set()

    async def answer(self, exchange: StorageRequest, bucket: str, name: str) -> Response:
        """Return the answer; raise StorageError."""
        method = exchange.request.method
        exchange.open_bucket("storage.objects.create", bucket)
        if "uploads" in exchange.query:
            if method != "POST":
                raise unsupported("A list of the uploads of a bucket")
            return self._begin(exchange, bucket, name)
        upload = exchange.query["uploadId"]
        about = self._find(upload, bucket, name)
        match method:
            case "PUT":
                return await self._take(exchange, upload)
            case "GET":
                return self._list(bucket, name, upload)
            case "POST":
                return await self._complete(exchange, bucket, name, upload, about)
            case "DELETE":
                if upload not in self._completing:
                    self._remove(upload)
                return Response(status_code=204)
        raise unsupported(f"{method} of an upload in parts")

    def _begin(self, exchange: StorageRequest, bucket: str, name: str) -> Response:
        about, upload = read_about_headers(exchange), secrets.token_urlsafe(48)
        row = (upload, bucket, check_object(name), KIND, self._store.now(), None, json.dumps(asdict(about)))
        self._store.db.execute("insert into uploads values (?, ?, ?, ?, ?, ?, ?)", row)
        return answer_xml("InitiateMultipartUploadResult", [("Bucket", bucket), ("Key", name), ("UploadId", upload)])

    def _find(self, upload: str, bucket: str, name: str) -> ObjectAbout:
        query = "select json from uploads where id = ? and bucket = ? and name = ? and kind = ?"
        row = self._store.db.execute(query, (upload, bucket, name, KIND)).fetchone()
        if row is None:
            raise missing_upload()
        return ObjectAbout(**json.loads(row[0]))

    async def _take(self, exchange: StorageRequest, upload: str) -> Response:
        number = parse_part_number(exchange.query.get("partNumber", ""))
        if "x-amz-copy-source" in exchange.headers:
            raise unsupported("A part that is copied")
        writer = await write_content(self._store, check_body(exchange))
        segment, digests = writer.finish()
        try:
            check_md5(exchange.headers.get("content-md5"), digests.md5)
            if (
                upload in self._completing
                or self._store.db.execute("select 1 from uploads where id = ?", (upload,)).fetchone() is None
            ):
                raise missing_upload()
        except StorageError:
            writer.drop()
            raise
        with transaction(self._store.db):
            before = self._store.db.execute("select content from parts where upload = ? and number = ?", (upload, number))
            self._store.contents.kill([row[0] for row in before])
            row = (upload, number, segment.content, segment.size, digests.md5, digests.crc32c, self._store.now())
            self._store.db.execute("insert or replace into parts values (?, ?, ?, ?, ?, ?, ?)", row)
        return Response(headers={"etag": f'"{digests.md5}"'})

    def _list(self, bucket: str, name: str, upload: str) -> Response:
        tree: Tree = [("Bucket", bucket), ("Key", name), ("UploadId", upload), ("IsTruncated", "false")]
        for part in self._parts(upload):
            about: Tree = [("PartNumber", str(part.number)), ("LastModified", format_time(read_moment(part.stored)))]
            tree.append(("Part", [*about, ("ETag", f'"{part.md5}"'), ("Size", str(part.segment.size))]))
        return answer_xml("ListPartsResult", tree)

    async def _complete(self, exchange: StorageRequest, bucket: str, name: str, upload: str, about: ObjectAbout) -> Response:
        chosen = _read_chosen(await exchange.read())
        if upload in self._completing:
            raise missing_upload()
        self._completing.add(upload)
        try:
            self._find(upload, bucket, name)  # it may have been aborted while the body came in
            parts = _match(chosen, {part.number: part for part in self._parts(upload)})
            segments = tuple(part.segment for part in parts)
            crc32c = 0
            async for data in self._store.contents.read(segments, 0, sum(segment.size for segment in segments)):
                crc32c = extend(crc32c, data)
            check_headers(exchange, self._store.find(bucket, name), bucket, name, reads=False)
            md5 = hashlib.md5(b"".join(bytes.fromhex(part.md5) for part in parts), usedforsecurity=False).hexdigest()
            new = NewObject(
                bucket=bucket,
                name=name,
                about=about,
                segments=segments,
                digests=Digests(crc32c=crc32c, md5=None),
                etag=f"{md5}-{len(parts)}",
            )
            stored = self._store.put(new, upload=upload)
        finally:
            self._completing.discard(upload)
        tree: Tree = [
            ("Location", f"{exchange.root}/{bucket}"),
            ("Bucket", bucket),
            ("Key", name),
            ("ETag", f'"{stored.etag}"'),
        ]
        return answer_xml("CompleteMultipartUploadResult", tree)

    def _parts(self, upload: str) -> list[UploadedPart]:
        query = "select number, content, size, md5, stored from parts where upload = ? order by number"
        rows: list[Any] = self._store.db.execute(query, (upload,)).fetchall()
        return [
            UploadedPart(number=row[0], segment=Segment(content=row[1], size=row[2]), md5=row[3], stored=row[4]) for row in rows
        ]

    def _remove(self, upload: str) -> None:
        with transaction(self._store.db):
            self._store.remove_upload(upload)


def _read_chosen(body: bytes) -> list[tuple[int, str]]:
    """Return number and entity tag of each part that the object is to be made of, in order; raise StorageError."""
    chosen = [
        (parse_part_number(part.findtext("PartNumber", "")), part.findtext("ETag", "").strip('"'))
        for part in parse_xml(body).iter("Part")
    ]
    numbers = [number for number, _ in chosen]
    if not chosen:
        raise StorageError(400, "invalid", "MalformedXML", "The list of parts is empty.")
    if numbers != sorted(set(numbers)):
        raise StorageError(400, "invalid", "InvalidPartOrder", "The list of parts was not in ascending order.")
    return chosen


def _match(chosen: list[tuple[int, str]], parts: dict[int, UploadedPart]) -> list[UploadedPart]:
    for number, etag in chosen:
        if number not in parts or parts[number].md5 != etag:
            raise StorageError(400, "invalid", "InvalidPart", "One or more of the specified parts could not be found.")
    matched = [parts[number] for number, _ in chosen]
    if any(part.segment.size < SMALLEST for part in matched[:-1]):
        message = "Your proposed upload is smaller than the minimum allowed size"
        raise StorageError(400, "invalid", "EntityTooSmall", message)
    return matched
