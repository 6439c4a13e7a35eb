"""Names: of buckets and objects, and what may be said of an object, within production's bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping

from emulator.objects.errors import StorageError, invalid

BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
OBJECT_BYTES = 1_024
METADATA_BYTES = 8 * 1024
TEXT_BYTES = 1_024
_LINE_ENDS = re.compile(r"[\r\n]")
_UNSENDABLE = re.compile(r"[^\x20-\x7e]")


def check_bucket(name: str) -> str:
    """Return the name of a bucket to be created; raise StorageError."""
    short = all(len(part) <= 63 for part in name.split(".")) and (len(name) <= 63 or "." in name)
    if not BUCKET.fullmatch(name) or not short or ".." in name or name.startswith("goog") or re.fullmatch(r"[\d.]+", name):
        raise StorageError(400, "invalid", "InvalidBucketName", f"Invalid bucket name: '{name}'")
    return name


def check_object(name: str) -> str:
    """Return the name of an object to be written; raise StorageError."""
    if not name:
        raise StorageError(400, "required", "InvalidObjectName", "Required")
    if len(name.encode("utf-8", "surrogatepass")) > OBJECT_BYTES:
        raise StorageError(400, "invalid", "KeyTooLongError", f"The object's name is longer than {OBJECT_BYTES} bytes.")
    if _LINE_ENDS.search(name) or name in (".", "..") or name.startswith(".well-known/acme-challenge/") or not is_unicode(name):
        raise StorageError(400, "invalid", "InvalidObjectName", f"Disallowed object name: {name!r}")
    return name


def is_unicode(text: str) -> bool:
    """Return whether a text can be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_about(content_type: str, texts: Mapping[str, str], metadata: Mapping[str, str]) -> None:
    """Raise StorageError for what is too long to be kept, or could not be sent as a header of a download."""
    for text in (content_type, *texts.values()):
        if len(text) > TEXT_BYTES or _UNSENDABLE.search(text):
            raise invalid(f"A content type and the like must be at most {TEXT_BYTES} printable ASCII characters.")
    if sum(len(part.encode("utf-8", "surrogatepass")) for item in metadata.items() for part in item) > METADATA_BYTES:
        raise StorageError(400, "invalid", "MetadataTooLarge", f"Custom metadata is larger than {METADATA_BYTES} bytes.")
    for name, value in metadata.items():
        if not name or _LINE_ENDS.search(name + value) or not is_unicode(name + value):
            raise invalid(f"The custom metadata {name!r} has line ends, or no name.")
