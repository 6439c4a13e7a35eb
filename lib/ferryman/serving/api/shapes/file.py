"""Files as they are answered."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, StrictInt

from ferryman.domain.files.links import LINK_LIFETIME
from ferryman.serving.api.shapes.shape import ListPage, RequestShape, ResponseShape

ETAG = "The version of its content, as in `ETag` and `If-Match`, without quotes"


class FileResponse(ResponseShape):
    """A file of the workspace."""

    key: str = Field(description="Its name, with slashes between folders")
    size_bytes: int
    etag: str = Field(validation_alias="version", description=ETAG)
    updated_at: datetime


class FileList(ListPage):
    """A page of files, by key. `used_bytes` of `limit_bytes` are kept in all files of the workspace."""

    files: tuple[FileResponse, ...]
    used_bytes: int
    limit_bytes: int


class StoredFileResponse(ResponseShape):
    """A file that was stored."""

    key: str = Field(description="Its name, with slashes between folders")
    size_bytes: int
    etag: str = Field(description=ETAG)
    created: bool = Field(description="Whether there was no such file before")


class FileLinkResponse(ResponseShape):
    """A link to one version of a file, good with the API key that asked for it, until a moment."""

    path: str = Field(description="What to ask for, at the API's own address")
    etag: str = Field(description=ETAG)
    expires_at: datetime


class DirectLinkRequest(RequestShape):
    """For how long a direct link is to be good."""

    expires_in_s: StrictInt = Field(
        default=int(LINK_LIFETIME.total_seconds()), ge=1, le=int(LINK_LIFETIME.total_seconds()), description="In seconds"
    )


class DirectLinkResponse(ResponseShape):
    """A link that downloads a file without an API key, until a moment."""

    url: str = Field(description="Where the file is. Anybody who has it can download the file: keep it as you would the file")
    etag: str = Field(description=ETAG)
    version_bound: bool = Field(
        description="Whether it opens this version alone; otherwise what is kept under the key when it is followed"
    )
    expires_at: datetime
