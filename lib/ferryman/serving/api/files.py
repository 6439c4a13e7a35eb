"""Files of a workspace over HTTP: listed, downloaded, stored, deleted, and links to them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, timedelta
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from ferryman.catalog.tools import NO_BUCKET, keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.domain.files.conditions import RangeOutsideError, format_tag, read_range, read_tags
from ferryman.domain.files.keys import clean_key, clean_prefix
from ferryman.domain.files.links import LINK_LIFETIME, FileLink, LinkInvalidError, read_link, write_link
from ferryman.domain.files.object import Object, ObjectMissingError
from ferryman.domain.files.writes import FILE_BYTES_MAX
from ferryman.domain.problem import InvalidInputError, build_input_error
from ferryman.rates import Rate
from ferryman.serving.api.access import Dependencies, Manager, Reader, get_plan, read_secret
from ferryman.serving.api.downloads import DEFAULT_TYPE, build_download
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.file_writes import count_write, read_condition, repeat_write, reserve_write
from ferryman.serving.api.idempotency import IdempotentRoute
from ferryman.serving.api.large_body import take_large_body
from ferryman.serving.api.limits import take_token
from ferryman.serving.api.paging import ByName
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import file as shapes

NO_DIRECT_LINKS = (
    "this deployment gives no direct links: they are good without an API key, and its operator has not allowed them"
)

READS_RATE = Rate(at_once=60, every=timedelta(seconds=0.2))
"""Downloads that an owner may begin in one instance."""

WRITES_RATE = Rate(at_once=30, every=timedelta(seconds=0.5))
"""Files that an owner may store or delete in one instance."""

LINKS_RATE = Rate(at_once=20, every=timedelta(seconds=1))
"""Direct links that an owner may ask for in one instance: each is a signature that Google makes, and a line in the history."""

BYTES = {"schema": {"type": "string", "contentMediaType": DEFAULT_TYPE}, "example": "# The trip\n\nBy ferry, at night.\n"}
DOWNLOAD: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file's bytes, to be saved", "content": {DEFAULT_TYPE: BYTES}},
    206: {"description": "A part of them", "content": {DEFAULT_TYPE: BYTES}},
    304: {"description": "It is still of the version in If-None-Match"},
}
UPLOAD = {"requestBody": {"required": True, "content": {DEFAULT_TYPE: BYTES}}}


async def _require_files(deps: Dependencies) -> None:
    if not keeps_files(deps.tools):
        raise HTTPException(404, NO_BUCKET)


router = APIRouter(route_class=IdempotentRoute, prefix="/v1", tags=["files"], dependencies=[Depends(_require_files)])

Prefix = Annotated[str, Query(max_length=512, description="How the keys begin: `reports/` lists a folder")]
LinkText = Annotated[str | None, Query(max_length=700, description="A link to this file, from `/v1/file-links`")]
Lifetime = Annotated[int, Query(ge=1, le=int(LINK_LIFETIME.total_seconds()), description="For how many seconds it is good")]
IfMatch = Annotated[
    str | None, Header(max_length=4_000, description="The version that is meant, as its `ETag`, or `*` for any")
]
IfNoneMatch = Annotated[
    str | None,
    Header(max_length=4_000, description="The version that is known, as its `ETag`; of a write `*`: no file is replaced"),
]


@router.get("/files", summary="Files of the workspace, by key")
async def list_files(deps: Dependencies, caller: Reader, paging: ByName, prefix: Prefix = "") -> shapes.FileList:
    plan = get_plan(deps, caller.owner)
    page = await deps.files.list(caller.workspace, clean_prefix(prefix), cursor=paging.after, most=paging.limit)
    quota = await deps.file_quotas.get(caller.workspace)
    files = tuple(map(shapes.FileResponse.model_validate, page.entries))
    used, most = quota.used_bytes + quota.reserved_bytes, plan.file_bytes
    return shapes.FileList(files=files, next=paging.write_next(page.cursor), used_bytes=used, limit_bytes=most)


@router.get(
    "/files/{key:path}", responses=DOWNLOAD, response_class=StreamingResponse, summary="Download a file, or a part of it"
)
async def get_file(
    request: Request, key: str, deps: Dependencies, caller: Reader, link: LinkText = None, if_none_match: IfNoneMatch = None
) -> Response:
    take_token(deps.file_rates, f"downloads:{caller.owner.id}", READS_RATE, now=deps.clock.now(), what="downloads")
    file = await _find(deps, caller, key, link, request)
    tags = () if if_none_match is None else read_tags(if_none_match, "If-None-Match")
    if tags is None or file.version in tags:
        return Response(status_code=304, headers={"ETag": format_tag(file.version)})
    try:
        # a part of another version is no part of what the client has
        unchanged = request.headers.get("if-range", format_tag(file.version)) == format_tag(file.version)
        part = read_range(request.headers.get("range") if unchanged else None, file.size_bytes)
    except RangeOutsideError:
        headers = {"Content-Range": f"bytes */{file.size_bytes}"}
        raise HTTPException(416, f"the file has {file.size_bytes:,} bytes", headers) from None
    return build_download(deps, caller, file, part)


@router.put("/files/{key:path}", status_code=200, openapi_extra=UPLOAD, summary="Store a file")
async def put_file(
    request: Request,
    key: str,
    deps: Dependencies,
    caller: Manager,
    response: Response,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
) -> shapes.StoredFileResponse:
    if clean_key(key) != key:
        raise build_input_error(
            "key", "must be written as it is kept: in NFC, without empty parts, dots alone, and what is not seen"
        )
    take_token(deps.file_rates, f"writes:{caller.owner.id}", WRITES_RATE, now=deps.clock.now(), what="writes of files")
    expected = await read_condition(deps, caller, key, if_match, if_none_match)
    content_type = request.headers.get("content-type") or DEFAULT_TYPE
    async with take_large_body(request, deps, caller, what="files") as content:
        if len(content) > FILE_BYTES_MAX:
            raise HTTPException(413, f"a file has at most {FILE_BYTES_MAX:,} bytes")
        async with reserve_write(deps, caller, key, len(content)) as write:
            done = await repeat_write(
                lambda: deps.files.write(
                    caller.workspace, key, content, content_type=content_type, write=write, expected=expected
                )
            )
            await count_write(deps, caller, write, done)
    response.headers["ETag"] = format_tag(done.version)
    return shapes.StoredFileResponse(key=key, size_bytes=len(content), etag=done.version, created=done.is_new)


@router.delete("/files/{key:path}", status_code=204, summary="Delete a file")
async def delete_file(key: str, deps: Dependencies, caller: Manager, if_match: IfMatch = None) -> None:
    _check_key(key)
    take_token(deps.file_rates, f"writes:{caller.owner.id}", WRITES_RATE, now=deps.clock.now(), what="writes of files")
    expected = await read_condition(deps, caller, key, if_match, None)
    async with reserve_write(deps, caller, key, 0) as write:
        done = await repeat_write(lambda: deps.files.delete(caller.workspace, key, write=write, version=expected))
        if done is None:
            raise NotFoundError("file")
        if await count_write(deps, caller, write, done):
            await deps.files.purge(caller.workspace, key, version=done.version)


@router.get("/file-links", summary="A link to a file that is good for some minutes")
async def get_file_link(
    request: Request,
    deps: Dependencies,
    caller: Reader,
    key: Annotated[str, Query(min_length=1, max_length=512, description="The file's key")],
    expires_in_s: Lifetime = int(LINK_LIFETIME.total_seconds()),
) -> shapes.FileLinkResponse:
    file = await _find(deps, caller, key, None, request)
    # whole seconds, as the link has them
    expires_at = (deps.clock.now() + timedelta(seconds=expires_in_s)).astimezone(UTC).replace(microsecond=0)
    link = FileLink(workspace=caller.workspace, key=file.key, version=file.version, expires_at=expires_at)
    path = f"/v1/files/{quote(file.key)}?link={write_link(link, read_secret(request))}"
    return shapes.FileLinkResponse(path=path, etag=file.version, expires_at=expires_at)


@router.post("/file-links/{key:path}", status_code=200, summary="A direct link to a file, for anybody who has it")
async def create_direct_link(
    key: str,
    deps: Dependencies,
    caller: Manager,
    response: Response,
    body: shapes.DirectLinkRequest | None = None,
) -> shapes.DirectLinkResponse:
    if not deps.direct_links:
        raise HTTPException(404, NO_DIRECT_LINKS)
    _check_key(key)
    take_token(deps.file_rates, f"links:{caller.owner.id}", LINKS_RATE, now=deps.clock.now(), what="direct links")
    try:
        lifetime = timedelta(seconds=(body or shapes.DirectLinkRequest()).expires_in_s)
        link = await deps.files.link(caller.workspace, key, lifetime=lifetime)
    except ObjectMissingError:
        raise NotFoundError("file") from None
    response.headers["Cache-Control"] = "no-store"
    return shapes.DirectLinkResponse(url=link.url, etag=link.version, version_bound=link.is_bound, expires_at=link.expires_at)


async def _find(deps: ApiDependencies, caller: Caller, key: str, link: str | None, request: Request) -> Object:
    """Return the file. Raise 404, and with a link that is not good for it 403."""
    _check_key(key)
    known = None
    if link is not None:
        try:
            known = read_link(link, read_secret(request), workspace=caller.workspace, key=key, now=deps.clock.now())
        except LinkInvalidError as error:
            raise HTTPException(403, str(error)) from None
    file = await deps.files.head(caller.workspace, key)
    if file is None or (known is not None and file.version != known.version):
        raise NotFoundError("file")
    return file


def _check_key(key: str) -> None:
    """Raise 404 for a key under which no file is kept: one path leads to a file, and no other spelling of it."""
    with suppress(InvalidInputError):
        if clean_key(key) == key:
            return
    raise NotFoundError("file")
