"""Downloads: a file as an answer that no browser shows, runs or takes for another type; sent part by part."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from email.utils import format_datetime

from starlette.responses import StreamingResponse

from ferryman.composition.api import ApiDependencies
from ferryman.domain.files.conditions import ByteRange, format_tag
from ferryman.domain.files.disposition import write_disposition
from ferryman.domain.files.object import Object, ObjectChangedError, ObjectMissingError
from ferryman.domain.files.writes import READ_BYTES_MAX
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller

DEFAULT_TYPE = "application/octet-stream"
SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-store",
}
"""What keeps a browser that is led to a file from running or sharing anything in it."""

_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(;[ -~]{0,200})?", re.ASCII)


def build_download(deps: ApiDependencies, caller: Caller, file: Object, part: ByteRange | None) -> StreamingResponse:
    """Return the answer: 200 with all of a file, or 206 with a part of it."""
    whole = ByteRange(0, file.size_bytes)
    sent = part or whole
    headers = {**build_headers(file), "Content-Length": str(sent.end - sent.start)}
    if part is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{file.size_bytes}"
    content = _iterate(deps, caller, file, sent)
    return StreamingResponse(content, 200 if part is None else 206, headers, media_type=None)


def build_headers(file: Object) -> dict[str, str]:
    """Return the headers that tell of a file. Nothing in its name or its type adds another one."""
    return {
        **SAFE_HEADERS,
        "Content-Type": file.content_type if _TYPE.fullmatch(file.content_type) else DEFAULT_TYPE,
        "Content-Disposition": write_disposition(file.key),
        "ETag": format_tag(file.version),
        "Last-Modified": format_datetime(file.updated_at, usegmt=True),
        "Accept-Ranges": "bytes",
    }


async def _iterate(deps: ApiDependencies, caller: Caller, file: Object, part: ByteRange) -> AsyncIterator[bytes]:
    """Yield the bytes, all of one version; before each part, the right to read them is asked for again.

    Where it is lost, or the file is replaced meanwhile, fewer come than the answer's length says: so what came is no file.
    """
    position = part.start
    try:
        while position < part.end and await still_has_right(deps, caller, Right.READ):
            size = min(READ_BYTES_MAX, part.end - position)
            read = await deps.files.read(caller.workspace, file.key, start=position, size=size, version=file.version)
            yield read.content
            position += len(read.content)
            if len(read.content) != size:
                break
    except (ObjectMissingError, ObjectChangedError, UnavailableError) as error:
        deps.tracer.line("download.broken_off", severity="WARNING", owner=caller.owner.id, error=type(error).__name__)
        return
    if position < part.end:
        deps.tracer.line("download.broken_off", severity="WARNING", owner=caller.owner.id)
