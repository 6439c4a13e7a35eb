"""Storing: a whole content under a name, once its conditions are met, its digests are right and nobody was faster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from emulator.objects.contents import ContentWriter
from emulator.objects.errors import wrong_digest
from emulator.objects.exchange import check_md5
from emulator.objects.store import NewObject, ObjectStore
from emulator.objects.values import ObjectAbout, StoredObject


async def write_content(store: ObjectStore, body: AsyncIterator[bytes]) -> ContentWriter:
    """Return the writer that took a whole body; what was written goes where it does not come to its end."""
    writer = ContentWriter(store.contents)
    try:
        async for data in body:
            writer.write(data)
    except BaseException:
        writer.drop()
        raise
    return writer


def store_content(
    store: ObjectStore,
    writer: ContentWriter,
    *,
    bucket: str,
    name: str,
    about: ObjectAbout,
    check: Callable[[StoredObject | None], None],
    digests: Mapping[str, Any],
    upload: str | None = None,
) -> StoredObject:
    """Store what a writer took, in one step, as an object, and end its upload; raise StorageError, and then forget it.

    `check` raises where the conditions are not met by the object that is there now; `digests` are `md5Hash` and `crc32c` as
    the JSON API has them.
    """
    segment, actual = writer.finish()
    try:
        check_md5(digests.get("md5Hash"), actual.md5)
        if digests.get("crc32c") not in (None, actual.crc32c_base64):
            raise wrong_digest("CRC32C")
        check(store.find(bucket, name))
        new = NewObject(bucket=bucket, name=name, about=about, segments=(segment,), digests=actual, etag=str(actual.md5))
        return store.put(new, upload=upload)
    except BaseException:
        writer.drop()
        raise
