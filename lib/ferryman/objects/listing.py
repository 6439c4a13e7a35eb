"""The XML of a page of a list, as S3 answers it (ListObjectsV2)."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import unquote
from xml.etree import ElementTree

from ferryman.domain.files.object import ObjectEntry, ObjectPage
from ferryman.ports.errors import UnavailableError


def read_page(content: bytes) -> ObjectPage:
    """Return the page; raise `UnavailableError` for what is none. A document with a type, and so with entities, is none."""
    try:
        if b"<!" in content:
            raise ValueError
        root = ElementTree.fromstring(content)  # noqa: S314 - nothing in it is expanded, as said above
        entries = tuple(_read_entry(item) for item in root if _name(item) == "Contents")
        more = _find(root, "IsTruncated") == "true"
        return ObjectPage(entries=entries, cursor=_find(root, "NextContinuationToken") if more else None)
    except (ElementTree.ParseError, ValueError, KeyError):
        raise UnavailableError("the bucket gave a list that cannot be read") from None


def _read_entry(item: ElementTree.Element) -> ObjectEntry:
    return ObjectEntry(
        key=unquote(_find(item, "Key"), errors="strict"),
        size_bytes=int(_find(item, "Size")),
        version=_find(item, "ETag").strip('"'),
        updated_at=datetime.fromisoformat(_find(item, "LastModified")),
    )


def _find(element: ElementTree.Element, name: str) -> str:
    """Return the text of a part, whatever its namespace; raise KeyError for one that is missing."""
    for part in element:
        if _name(part) == name:
            return part.text or ""
    raise KeyError(name)


def _name(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]
