"""Files as JSON, as the function `files` tells of them: written there, and read by who asks it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ferryman.domain.files.direct_links import DirectLink
from ferryman.domain.files.object import Object, ObjectEntry, ObjectPage
from ferryman.domain.files.writes import FileWrite, read_rows, write_rows


def write_entry(entry: ObjectEntry) -> dict[str, Any]:
    """Return an entry of a list, or a file, as JSON; times in UTC (RFC 3339)."""
    about = {"content_type": entry.content_type} if isinstance(entry, Object) else {}
    row = {"key": entry.key, "size_bytes": entry.size_bytes, "version": entry.version}
    return {**row, "updated_at": entry.updated_at.isoformat(), **about}


def write_page(page: ObjectPage) -> dict[str, Any]:
    """Return a page of a list as JSON."""
    return {"files": [write_entry(entry) for entry in page.entries], "cursor": page.cursor, "deleted": list(page.deleted)}


def write_result(done: FileWrite) -> dict[str, Any]:
    """Return what a write did as JSON."""
    return {"key": done.key, "version": done.version, "writes": write_rows(done.writes), "replaced": done.replaced}


def write_link(link: DirectLink) -> dict[str, Any]:
    """Return a direct link as JSON; its end in UTC (RFC 3339)."""
    row = {"url": link.url, "version": link.version, "is_bound": link.is_bound}
    return {**row, "expires_at": link.expires_at.isoformat()}


def read_link(row: Mapping[str, Any]) -> DirectLink:
    """Return the direct link; raise ValueError for what `write_link` did not write."""
    try:
        expires_at, is_bound = datetime.fromisoformat(row["expires_at"]), bool(row["is_bound"])
        return DirectLink(url=str(row["url"]), version=str(row["version"]), expires_at=expires_at, is_bound=is_bound)
    except (KeyError, TypeError) as error:
        raise ValueError("no link") from error


def read_entry(row: Mapping[str, Any]) -> ObjectEntry:
    """Return the entry, or the file; raise ValueError for what `write_entry` did not write."""
    try:
        values: dict[str, Any] = {
            "key": str(row["key"]),
            "size_bytes": int(row["size_bytes"]),
            "version": str(row["version"]),
            "updated_at": datetime.fromisoformat(row["updated_at"]),
        }
    except (KeyError, TypeError) as error:
        raise ValueError("no file") from error
    return Object(**values, content_type=str(row["content_type"])) if "content_type" in row else ObjectEntry(**values)


def read_entries(row: Mapping[str, Any]) -> ObjectPage:
    """Return the page; raise ValueError for what `write_page` did not write."""
    cursor = row.get("cursor")
    try:
        entries, deleted = tuple(map(read_entry, row["files"])), tuple(map(str, row["deleted"]))
        return ObjectPage(entries=entries, cursor=None if cursor is None else str(cursor), deleted=deleted)
    except (KeyError, TypeError) as error:
        raise ValueError("no page of files") from error


def read_result(row: Mapping[str, Any]) -> FileWrite:
    """Return what a write did; raise ValueError for what `write_result` did not write."""
    try:
        replaced = row["replaced"]
        return FileWrite(
            key=str(row["key"]),
            version=str(row["version"]),
            writes=read_rows(row["writes"]),
            replaced=None if replaced is None else int(replaced),
        )
    except (KeyError, TypeError) as error:
        raise ValueError("no write of a file") from error
