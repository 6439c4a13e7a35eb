"""Multipart: parts become a body of `multipart/form-data` (RFC 7578), with a boundary that nobody can know before."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ferryman.domain.http.parts import is_filename, is_part_media, is_part_name

MEDIA = "multipart/form-data"
JSON = "application/json"
PARTS_MAX = 1_000


ChooseBoundary = Callable[[Sequence[bytes]], str]
"""Takes the parts of a body; returns the boundary between them."""


class UnwritablePartError(ValueError):
    """The parts cannot be written so that every receiver reads the same."""


def encode_parts(body: Mapping[str, Sequence[Mapping[str, Any]]], choose: ChooseBoundary | None = None) -> tuple[bytes, str]:
    """Return the body of these parts, and its media type. Raise `UnwritablePartError`.

    The parts are by name; each has its `content`, and may have a `filename` and a `content_type`. `choose` chooses the
    boundary; without it, `choose_boundary` does.
    """
    if sum(map(len, body.values())) > PARTS_MAX:
        raise UnwritablePartError
    written = [_write_part(name, part) for name, parts in body.items() for part in parts]
    boundary = (choose or choose_boundary)(written)
    delimiter = f"--{boundary}".encode()
    lines = [piece for part in written for piece in (delimiter, b"\r\n", part, b"\r\n")]
    return b"".join((*lines, delimiter, b"--\r\n")), f"{MEDIA}; boundary={boundary}"


def choose_boundary(parts: Sequence[bytes]) -> str:
    """Return a boundary that nobody who wrote a part could know."""
    while True:
        boundary = f"ferryman-{secrets.token_hex(16)}"
        if not any(boundary.encode() in part for part in parts):
            return boundary


def derive_boundary(parts: Sequence[bytes]) -> str:
    """Return the boundary of the same parts that is the same each time: no part can hold the hash of all of them."""
    sizes = b"".join(b"%d," % len(part) for part in parts)
    return f"ferryman-{hashlib.sha256(b''.join((sizes, *parts))).hexdigest()[:32]}"


def _write_part(name: str, part: Mapping[str, Any]) -> bytes:
    content, filename, media = part.get("content"), part.get("filename"), part.get("content_type")
    if isinstance(content, Mapping | list | tuple):
        media = media or JSON
    try:
        return b"\r\n".join((*(line.encode() for line in _write_head(name, filename, media)), b"", _write_content(content)))
    except (ValueError, TypeError, RecursionError):
        raise UnwritablePartError from None


def _write_head(name: str, filename: Any, media: Any) -> Iterator[str]:
    if not is_part_name(name):
        raise UnwritablePartError
    disposition = f'Content-Disposition: form-data; name="{name}"'
    if filename is not None:
        if not isinstance(filename, str) or not is_filename(filename):
            raise UnwritablePartError
        disposition += f'; filename="{filename}"'
    yield disposition
    if media is not None:
        if not isinstance(media, str) or not is_part_media(media):
            raise UnwritablePartError
        yield f"Content-Type: {media}"


def _write_content(content: Any) -> bytes:
    if isinstance(content, str):
        return content.encode()
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
