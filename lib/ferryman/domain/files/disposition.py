"""The header that has a file saved under its name, and never shown."""

from __future__ import annotations

import re
from urllib.parse import quote

NAME_BYTES_MAX = 240
"""Of a name in UTF-8: most file systems take 255, and buckets a header of 1,024 characters, in which it is twice."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._ -]")


def write_disposition(key: str) -> str:
    """Return `Content-Disposition` for a file, with the last part of its key as its name (RFC 6266), all in visible ASCII."""
    name = key.rpartition("/")[2].encode()[:NAME_BYTES_MAX].decode(errors="ignore")
    plain = _UNSAFE.sub("_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
