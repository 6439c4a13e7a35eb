"""Files of a workspace; `file` is the key of one."""

from __future__ import annotations

from ferryman.client import answers
from ferryman.client.downloads import write_tag
from ferryman.client.request import AnswerPage, ApiRequest, build_path, get, post, read_as, read_none, read_page

UPLOAD_S = 300.0
"""How long a file may take to be stored: 30 MiB at 1 Mbit/s take 250 s."""


def list_files(
    prefix: str = "", *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.FileJson]]:
    """Return a page of the files whose keys begin with `prefix`."""
    return get(build_path("files"), read_page("files"), prefix=prefix or None, limit=limit, cursor=cursor)


def put_file(
    file: str,
    content: bytes,
    *,
    content_type: str | None = None,
    if_match: str | None = None,
    if_absent: bool = False,
) -> ApiRequest[answers.StoredFileJson]:
    """Store a file of at most 30 MiB.

    With `if_match`, the `etag` of one version, only that version is replaced, and with `if_absent` no file at all; otherwise
    the service refuses with 412.
    """
    conditions = {"If-Match": None if if_match is None else write_tag(if_match), "If-None-Match": "*" if if_absent else None}
    headers = {"Content-Type": content_type or "application/octet-stream"}
    headers |= {name: value for name, value in conditions.items() if value is not None}
    path, read = build_path("files", file), read_as(answers.StoredFileJson)
    return ApiRequest(method="PUT", path=path, read=read, content=content, headers=headers, within_s=UPLOAD_S)


def delete_file(file: str, *, if_match: str | None = None) -> ApiRequest[None]:
    """Delete a file; with `if_match`, the `etag` of one version, only that version."""
    headers = {} if if_match is None else {"If-Match": write_tag(if_match)}
    return ApiRequest(method="DELETE", path=build_path("files", file), read=read_none, headers=headers)


def get_file_link(file: str, *, expires_in_s: int | None = None) -> ApiRequest[answers.FileLinkJson]:
    """Return a link to this version of a file, good with this API key for at most 15 minutes."""
    return get(build_path("file-links"), read_as(answers.FileLinkJson), key=file, expires_in_s=expires_in_s)


def create_direct_link(
    file: str, *, expires_in_s: int | None = None, key: str | None = None
) -> ApiRequest[answers.DirectLinkJson]:
    """Return a link that downloads a file for anybody who has it, without an API key, for at most 15 minutes.

    The service refuses with 404 where its operator does not allow such links.
    """
    body = {} if expires_in_s is None else {"expires_in_s": expires_in_s}
    return post(build_path("file-links", file), read_as(answers.DirectLinkJson), body, key=key)
