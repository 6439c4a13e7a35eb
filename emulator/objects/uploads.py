"""Uploads of the JSON API: simple ones, ones with metadata, and the first request of those that can be resumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from emulator.objects.conditions import check_conditions, read_conditions
from emulator.objects.errors import invalid, unsupported
from emulator.objects.exchange import StorageRequest, parse_object
from emulator.objects.names import check_object
from emulator.objects.related import RelatedReader, read_boundary
from emulator.objects.resources import read_about, show_object
from emulator.objects.resumable import ResumableUploads
from emulator.objects.storing import store_content, write_content

DIGESTS = ("md5Hash", "crc32c")


class Uploads:
    """What is sent to /upload/storage/v1/b/BUCKET/o."""

    def __init__(self, resumable: ResumableUploads) -> None:
        self._resumable = resumable

    async def answer(self, exchange: StorageRequest) -> Response:
        """Return the new object, or where the rest of an upload goes to; raise StorageError."""
        match exchange.path:
            case ("b", bucket, "o"):
                pass
            case _:
                raise unsupported("An upload to anything but /b/BUCKET/o")
        exchange.open_bucket("storage.objects.create", bucket)
        if "upload_id" in exchange.query:
            return await self._resumable.answer(exchange, bucket)
        if exchange.request.method != "POST":
            raise unsupported(f"{exchange.request.method} of an upload without its upload_id")
        kind = exchange.query.get("uploadType")
        if kind == "resumable":
            return await self._resumable.begin(exchange, bucket)
        if kind not in ("media", "multipart"):
            raise invalid("The uploadType must be media, multipart or resumable.")
        return await (self._store_media if kind == "media" else self._store_related)(exchange, bucket)

    async def _store_media(self, exchange: StorageRequest, bucket: str) -> Response:
        source = {"contentType": exchange.headers.get("content-type"), "contentEncoding": exchange.query.get("contentEncoding")}
        writer = await write_content(exchange.store, exchange.stream())
        return self._finish(exchange, bucket, source, writer)

    async def _store_related(self, exchange: StorageRequest, bucket: str) -> Response:
        reader = RelatedReader(exchange.stream(), read_boundary(exchange.headers.get("content-type", "")))
        metadata, content_type = await reader.read_head()
        source = parse_object(metadata)
        source.setdefault("contentType", content_type)
        writer = await write_content(exchange.store, reader.stream())
        return self._finish(exchange, bucket, source, writer)

    @staticmethod
    def _finish(exchange: StorageRequest, bucket: str, source: Mapping[str, Any], writer: Any) -> Response:
        try:
            name = check_object(str(source.get("name") or exchange.query.get("name") or ""))
            about, conditions = read_about(source), read_conditions(exchange.query)
        except BaseException:
            writer.drop()
            raise
        stored = store_content(
            exchange.store,
            writer,
            bucket=bucket,
            name=name,
            about=about,
            check=lambda current: check_conditions(current, conditions, reads=False),
            digests={name: source.get(name) for name in DIGESTS},
        )
        return JSONResponse(show_object(stored, exchange.root))
