"""The tool `image_info`: what a picture is, by its header alone."""

from __future__ import annotations

from typing import Any

from ferryman.tools.files.file_call import FileCall, explain, read_key, refuse, write_answer
from ferryman.tools.files.image_header import HEADER_BYTES, read_image_header
from ferryman.tools.local_function.registry import register


async def image_info(*, key: str, db: FileCall, **_: Any) -> str:
    """Return `key`, `format`, `width` and `height` in pixels, `content_type` and `size_bytes` as JSON.

    Width and height are null where the header does not tell them. Raise `LocalFunctionError` for what is no picture.
    """
    cleaned = read_key(key)
    part = await explain(db.files.read(db.workspace, cleaned, size=HEADER_BYTES), cleaned)
    db.read = await db.files.read_integrity(db.workspace, cleaned, version=part.version)
    header = read_image_header(part.content)
    if header is None:
        raise refuse("key", "is no picture in PNG, JPEG, GIF, WebP, BMP or SVG")
    size = {"width": header.width, "height": header.height}
    about = {"content_type": part.content_type, "size_bytes": part.size_bytes}
    return write_answer({"key": cleaned, "format": header.format, **size, **about})


register("image_info", image_info)
