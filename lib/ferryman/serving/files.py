"""files as a function: it runs the tools of files, and has routes by which the API reaches the files of a workspace.

All are POST. A body is a JSON object; where a content goes with it, that object is one line, and the bytes follow its newline.
`workspace` is an id, never a model's word; `key` is cleaned here (S4-65, S4-66), `version` and `expected` are empty for any.

/list    {workspace, prefix, cursor, most}; prefix and cursor may be empty, most is 1 to 1,000
         200 {files: [{key, size_bytes, version, updated_at}], cursor: text or null, deleted: [key]}; of those deleted
             something is left to be purged
/head    {workspace, key}
         200 {key, size_bytes, version, updated_at, content_type}
/read    {workspace, key, start, size, version}; at most 4 MiB at once: ask part by part with the version of the first one
         200 {key, start, size_bytes, content_type, version} as a line, and the bytes; size_bytes are all of the file
/write   {workspace, key, content_type, write, expected} as a line, and at most 30 MiB; expected "absent": there must be none
         200 {key, version, writes: [[name, old bytes, new bytes]], replaced: null}; the writes are to be settled
/delete  {workspace, key, write, version}
         200 the same, or null where there is nothing; settle the writes, then
/purge   {workspace, key, version}
         200 null
/find    {workspace, key, write}
         200 as of /write, what that write did to the file, or null
/link    {workspace, key, lifetime_s}; a direct link, for 1 to 900 s; 404 unless FERRYMAN_DIRECT_LINKS is set
         200 {url, version, expires_at, is_bound}; anybody who has the url can download the file

POST / is for the orchestrator: it runs a tool, {call, tool, arguments, user, within_s, workspace, write, is_done, integrity},
and answers 200 {content, code, about: {writes, read}}, whatever the tool did; `integrity` is that of the arguments, and `read`
that of what the content was made of beside them; 503 where nobody knows whether it stored the file.

404 there is no such file; 409 it is of another version; 413 too long; 422 with `errors` by field; 503 try again, a write under
the same name: it happens once.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.serving import entry
from ferryman.serving.entry import Handler, read_body
from ferryman.serving.problems import create_problem
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.files import FilesFunction

HEAD_BYTES_MAX = 64 * 1024
"""Of the line before a content."""

ABSENT_WORD = "absent"
"""What `expected` says where there must be no file: empty says that any may be there."""


def build_function(known: Settings) -> FilesFunction:
    """Return what the function is made of."""
    from ferryman.composition.files import FilesFunction

    return FilesFunction(known)


def serve(build: Callable[[Settings], FilesFunction] = build_function) -> Handler:
    """Return the function's `main`: the routes above; 400 for another body, 401 or 403 for the wrong caller."""
    return entry.serve(build, _answer, entry.allow_callers)


async def _answer(function: FilesFunction, request: Request) -> Response:
    from ferryman.domain.files.object import ObjectChangedError, ObjectMissingError
    from ferryman.domain.problem import InvalidInputError

    path = request.url.path
    if path not in ROUTES:
        return create_problem(404, "there is nothing here")
    try:
        with function.tracer.span(f"files {path[1:]}", kind="server", parent=request.headers.get("traceparent", "")):
            return await ROUTES[path](function, request)
    except InvalidInputError as invalid:
        return create_problem(422, str(invalid), errors=invalid.problems)
    except ObjectMissingError:
        return create_problem(404, "there is no such file")
    except ObjectChangedError:
        return create_problem(409, "the file is of another version")
    finally:
        await function.tracer.flush()


async def _call(function: FilesFunction, request: Request) -> Response:
    from ferryman.domain.calls.call import ToolCall
    from ferryman.domain.labels.label import Integrity
    from ferryman.tools.files.answering import answer_call
    from ferryman.tools.files.file_call import FileCall

    fields: dict[str, type] = {"call": str, "tool": str, "arguments": dict, "user": str, "within_s": float}
    body = await read_body(request, **fields, workspace=str, write=str, is_done=bool, integrity=str)
    try:
        user, integrity = UUID(body["user"]), Integrity(body["integrity"])
    except ValueError:
        raise HTTPException(400, "user must be a UUID, and integrity that of a label") from None
    known = {name: body[name] for name in ("workspace", "write", "is_done")}
    call = FileCall(files=function.files, integrity=integrity, **known)
    tool_call = ToolCall(id=body["call"], name=body["tool"], arguments=body["arguments"])
    return JSONResponse(await answer_call(call, tool_call, user, within_s=body["within_s"]))


async def _list(function: FilesFunction, request: Request) -> Response:
    from ferryman.domain.files.rows import write_page

    body = await read_body(request, workspace=str, prefix=str, cursor=str, most=int)
    cursor = body.pop("cursor") or None
    return JSONResponse(write_page(await function.files.list(**body, cursor=cursor)))


async def _head(function: FilesFunction, request: Request) -> Response:
    from ferryman.domain.files.object import ObjectMissingError
    from ferryman.domain.files.rows import write_entry

    file = await function.files.head(**await read_body(request, workspace=str, key=str))
    if file is None:
        raise ObjectMissingError
    return JSONResponse(write_entry(file))


async def _read(function: FilesFunction, request: Request) -> Response:
    body = await read_body(request, workspace=str, key=str, start=int, size=int, version=str)
    part = await function.files.read(**{**body, "version": body["version"] or None})
    about = {"start": part.start, "size_bytes": part.size_bytes, "content_type": part.content_type, "version": part.version}
    head = json.dumps({"key": body["key"], **about}).encode()
    return Response(b"\n".join((head, part.content)), media_type="application/octet-stream")


async def _write(function: FilesFunction, request: Request) -> Response:
    from ferryman.domain.files.object import ABSENT
    from ferryman.domain.files.rows import write_result

    async with function.uploads:
        head, content = await _read_upload(request, workspace=str, key=str, content_type=str, write=str, expected=str)
        expected = {"": None, ABSENT_WORD: ABSENT}.get(head["expected"], head["expected"])
        return JSONResponse(write_result(await function.files.write(**{**head, "expected": expected}, content=content)))


async def _delete(function: FilesFunction, request: Request) -> Response:
    from ferryman.domain.files.rows import write_result

    body = await read_body(request, workspace=str, key=str, write=str, version=str)
    done = await function.files.delete(**{**body, "version": body["version"] or None})
    return JSONResponse(None if done is None else write_result(done))


async def _find(function: FilesFunction, request: Request) -> Response:
    from ferryman.domain.files.rows import write_result

    done = await function.files.find(**await read_body(request, workspace=str, key=str, write=str))
    return JSONResponse(None if done is None else write_result(done))


async def _purge(function: FilesFunction, request: Request) -> Response:
    await function.files.purge(**await read_body(request, workspace=str, key=str, version=str))
    return JSONResponse(None)


async def _link(function: FilesFunction, request: Request) -> Response:
    from ferryman.domain.files.rows import write_link
    from ferryman.domain.problem import build_input_error
    from ferryman.ports.errors import RejectedError

    body = await read_body(request, workspace=str, key=str, lifetime_s=int)
    if not function.direct_links:
        return create_problem(404, "there are no direct links here")
    try:
        lifetime = timedelta(seconds=body["lifetime_s"])
        link = await function.files.link(body["workspace"], body["key"], lifetime=lifetime)
    except (ValueError, OverflowError) as error:
        raise build_input_error("lifetime_s", str(error)) from None
    except RejectedError as error:
        function.tracer.line("link.refused", severity="ERROR", reason=str(error))  # a text of our own, without any URL
        raise
    return JSONResponse(write_link(link))


ROUTES: Mapping[str, Callable[[FilesFunction, Request], Awaitable[Response]]] = {
    "/": _call,
    "/list": _list,
    "/head": _head,
    "/read": _read,
    "/write": _write,
    "/delete": _delete,
    "/find": _find,
    "/purge": _purge,
    "/link": _link,
}


async def _read_upload(request: Request, **fields: type) -> tuple[dict[str, Any], bytes]:
    """Return the object of the first line, which holds exactly `fields` of these types, and the content after it.

    Raise `HTTPException`: 413 as soon as there is more than a file may have.
    """
    from ferryman.domain.files.writes import FILE_BYTES_MAX

    if request.method != "POST":
        raise HTTPException(405, "only POST is served here")
    received, begin = bytearray(), -1
    async for chunk in request.stream():
        received += chunk
        if begin < 0 and (begin := received.find(b"\n")) < 0 and len(received) > HEAD_BYTES_MAX:
            raise HTTPException(413, f"the line before the content is longer than {HEAD_BYTES_MAX:,} bytes")
        if begin >= 0 and len(received) - begin - 1 > FILE_BYTES_MAX:
            raise HTTPException(413, f"a file has at most {FILE_BYTES_MAX:,} bytes")
    if not 0 <= begin <= HEAD_BYTES_MAX:
        raise HTTPException(400, "the body must be a line of JSON, and the content after it")
    try:
        head = json.loads(received[:begin])
    except (ValueError, RecursionError):
        raise HTTPException(400, "the first line is not JSON") from None
    if not isinstance(head, dict) or {name: type(value) for name, value in head.items()} != fields:
        raise HTTPException(400, f"the first line must be an object with exactly {', '.join(sorted(fields))}, each a text")
    del received[: begin + 1]
    return head, bytes(received)
