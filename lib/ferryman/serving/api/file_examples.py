"""Examples of answers about files, for the description."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from ferryman.domain.owners.plan import PRO
from ferryman.serving.api.shapes import file

AT = datetime(2026, 11, 22, 9, tzinfo=UTC)

_FILE = {"key": "reports/trip.md", "size_bytes": 2_210, "version": "1790000000000001", "updated_at": AT}


def build_file_answers() -> dict[str, BaseModel]:
    """Return the answer of each operation on files, by the operation's name."""
    return {
        "listFiles": file.FileList.model_validate(
            {"files": [_FILE], "next": None, "used_bytes": 48_213, "limit_bytes": PRO.file_bytes}
        ),
        "putFile": file.StoredFileResponse(key="reports/trip.md", size_bytes=2_210, etag="1790000000000001", created=True),
        "createDirectLink": file.DirectLinkResponse(
            url=f"https://storage.googleapis.com/bucket/workspaces/w/trip.md?generation=17&X-Goog-Signature={'0' * 64}",
            etag="17",
            version_bound=True,
            expires_at=AT + timedelta(minutes=15),
        ),
        "getFileLink": file.FileLinkResponse(
            path=f"/v1/files/reports/trip.md?link={'A' * 70}", etag="1790000000000001", expires_at=AT + timedelta(minutes=15)
        ),
    }
