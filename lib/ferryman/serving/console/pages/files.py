"""Files of the workspace: listed by how their keys begin, one with its links, downloads, uploads, and deletions."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from ferryman.domain.approvals.visible import show_text
from ferryman.domain.files.keys import clean_key, clean_prefix
from ferryman.domain.problem import InvalidInputError
from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.form_fields import INVALID, list_problems, require_consent
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect, check_next
from ferryman.serving.console.uploads import Upload

PATH = f"{ROOT}/files"
PAGE_MAX = 50
LINK_S = 900

_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}", re.ASCII)
_DOWNLOAD_HEADERS = (
    "accept-ranges",
    "cache-control",
    "content-disposition",
    "content-length",
    "content-range",
    "content-security-policy",
    "content-type",
    "cross-origin-resource-policy",
    "etag",
    "last-modified",
    "x-content-type-options",
)
"""Headers of the API's answer that are passed on: no browser shows or runs the file, or guesses another type."""


async def show_files(request: ConsoleRequest) -> ConsolePage:
    """Show the files whose keys begin with `prefix`."""
    return await _show_list(request)


async def upload_file(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store the file of the form as a stream; replace an existing one where the box was ticked."""
    try:
        if request.upload is None or not (request.upload.name or request.read_field("name")):
            raise build_problem("file", "choose one")
        headers = {"Content-Type": _find_type(request.upload)}
        if request.read_field("replace") != "true":
            headers["If-None-Match"] = "*"
        await request.api.ask("PUT", f"/v1/files/{_name_file(request)}", content=request.upload.pieces, headers=headers)
    except ApiProblemError as error:
        if error.status == 412:
            error = build_problem("name", "there is such a file: give another name, or tick Replace an existing file")
        return await _show_list(request, error)
    return Redirect(path=check_next(request.read_field("next") or PATH), done="uploaded")


async def show_file(request: ConsoleRequest) -> ConsolePage | Response:
    """Show one file, or send it."""
    if request.query.get("download"):
        return await _download(request)
    return await _show(request)


async def link_file(request: ConsoleRequest) -> ConsolePage | Response:
    """Show a direct link to the file, which is good without an API key."""
    key = request.read_field("key")
    try:
        link = await request.api.post(f"/v1/file-links/{key}", {"expires_in_s": LINK_S})
    except ApiProblemError as error:
        return await _show(request, error)
    return await _show(request, link=link)


async def delete_file(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Delete the file, where the box of the form was ticked."""
    require_consent(request.form)
    await request.api.delete(f"/v1/files/{request.read_field('key')}")
    return Redirect(path=PATH, done="deleted")


def build_problem(field: str, message: str) -> ApiProblemError:
    """Return the error of a field of a form, in the shape of the API's problem documents."""
    return ApiProblemError(INVALID, {"title": "Invalid", "errors": [{"field": field, "message": message}]})


def _find_type(upload: Upload) -> str:
    return upload.content_type if _TYPE.fullmatch(upload.content_type) else "application/octet-stream"


def _name_file(request: ConsoleRequest) -> str:
    """Return the key that the file of a form is stored under: its name in the folder, or the one that was typed."""
    assert request.upload is not None, "it was asked for"
    name = request.read_field("name") or re.split(r"[/\\]", request.upload.name)[-1]
    try:
        return clean_key(f"{request.read_field('folder')}/{name}")
    except InvalidInputError as error:
        raise build_problem("name", error.problems[0].message) from None


async def _show_list(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    prefix = request.query.get("prefix", "")
    listed, no_files = None, ""
    try:
        listed = await request.api.get("/v1/files", prefix=prefix, cursor=request.query.get("cursor"), limit=PAGE_MAX)
    except ApiProblemError as error:
        if error.status != 404:
            raise
        no_files = error.detail
    typed = {name: request.form.get(name, ("",))[0] for name in ("folder", "name", "replace", "next")}
    values: dict[str, Any] = {
        "listed": listed,
        "no_files": no_files,
        "prefix": prefix,
        "typed": {**typed, "folder": typed["folder"] or clean_prefix(prefix).rpartition("/")[0]},
        "errors": list_problems(refused),
    }
    status = 200 if refused is None else refused.status
    return ConsolePage(template="files.html", title="Files", values=values, status=status)


async def _show(request: ConsoleRequest, refused: ApiProblemError | None = None, link: Any = None) -> ConsolePage:
    key = request.params.get("file") or request.read_field("key")
    file = await _find(request, key)
    values = {"file": file, "link": link, "errors": list_problems(refused)}
    status = 200 if refused is None else refused.status
    return ConsolePage(template="file.html", title=show_text(key), values=values, status=status)


async def _find(request: ConsoleRequest, key: str) -> dict[str, Any]:
    """Return the file's row in the list. Raise 404."""
    listed = await request.api.get("/v1/files", prefix=key, limit=1)
    if not listed["files"] or listed["files"][0]["key"] != key:
        raise HTTPException(404, "there is no such file")
    row: dict[str, Any] = listed["files"][0]
    return row


async def _download(request: ConsoleRequest) -> Response:
    headers = {name: value for name in ("range", "if-range") if (value := request.request.headers.get(name)) is not None}
    opened = request.api.open("GET", f"/v1/files/{request.params['file']}", headers=headers)
    answer, pieces = await opened.__aenter__()

    async def send() -> AsyncIterator[bytes]:
        try:
            async for piece in pieces:
                yield piece
        finally:
            await opened.__aexit__(None, None, None)

    sent_headers = {name: answer.headers[name] for name in _DOWNLOAD_HEADERS if name in answer.headers}
    return StreamingResponse(send(), status_code=answer.status, headers=sent_headers)


def write_address(key: str) -> str:
    """Return the path of the page of the file with this key."""
    return f"{PATH}/{quote(key)}"


ROUTES = (
    ConsoleRoute(
        path=PATH,
        show=show_files,
        section="files",
        actions={"upload": upload_file, "link": link_file, "delete": delete_file},
    ),
    ConsoleRoute(path=f"{PATH}/{{file:path}}", show=show_file, section="files"),
)
