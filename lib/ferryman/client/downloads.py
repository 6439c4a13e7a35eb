"""Downloads of files: what is asked for, of which version, and that a part is one of that version."""

from __future__ import annotations

from collections.abc import Mapping

from ferryman.client.errors import ApiRefusedError

PARTIAL_CONTENT, CHANGED = 206, 412


def build_download_headers(start: int, etag: str | None) -> Mapping[str, str]:
    """Return the headers of a download from byte `start` on, of the version `etag` where one is named."""
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    if start and etag is not None:
        headers["If-Range"] = write_tag(etag)
    return headers


def check_download(status: int, start: int) -> None:
    """Raise `ApiRefusedError` where all of a file comes although a part was asked for: it is another version by now."""
    if start and status != PARTIAL_CONTENT:
        raise ApiRefusedError(CHANGED, "the file was changed: download it again from its beginning")


def write_tag(etag: str) -> str:
    """Return the version as conditions write it (RFC 9110, 8.8.3)."""
    return f'"{etag}"'
