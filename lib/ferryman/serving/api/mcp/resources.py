"""Resources: the files of a workspace, as MCP lists and reads them. What is in them, anybody may have written."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote, unquote

from ferryman.catalog.tools import keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.domain.files.keys import clean_key
from ferryman.domain.files.object import Object, ObjectChangedError, ObjectEntry, ObjectMissingError
from ferryman.domain.files.texts import is_text_type
from ferryman.domain.problem import InvalidInputError
from ferryman.serving.api.files import READS_RATE
from ferryman.serving.api.limits import take_token
from ferryman.serving.api.mcp.caller import get_caller, hold_turn
from ferryman.serving.api.rights import Caller
from ferryman.serving.mcp import Complete, ErrorCode, McpError, McpExchange, Result, refuse_params
from ferryman.serving.mcp.pages import PAGE_SIZE, read_cursor, write_cursor

PREFIX = "ferryman://files/"
TEMPLATE = PREFIX + "{+key}"
CONTENT_BYTES_MAX = 1_000_000
"""Of a file that is read as a resource: it becomes one JSON text. Longer ones are downloaded from the API, or read in parts."""

LIST_TTL_MS = 5_000


def name_resource(key: str) -> str:
    """Return the URI of a file."""
    return PREFIX + quote(key, safe="/")


def parse_uri(uri: str) -> str:
    """Return the key of the file that `uri` names. Raise `McpError` with -32602 for what names none."""
    if not uri.startswith(PREFIX):
        raise refuse_missing(uri)
    try:
        key = unquote(uri.removeprefix(PREFIX), errors="strict")
        if clean_key(key) == key:
            return key
    except (UnicodeDecodeError, InvalidInputError):
        pass
    raise refuse_missing(uri)


def refuse_missing(uri: str) -> McpError:
    """Return the error of a resource that is not there, or is another workspace's: -32602."""
    return McpError(ErrorCode.INVALID_PARAMS, "Resource not found", {"uri": uri})


async def list_resources(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer resources/list: the workspace's files, by key."""
    caller, cursor = get_caller(exchange).caller, read_cursor(exchange)
    if not keeps_files(deps.tools):
        return Complete({"resources": []}, ttl_ms=LIST_TTL_MS)
    try:
        async with hold_turn(deps, caller):
            page = await deps.files.list(caller.workspace, "", cursor=cursor, most=PAGE_SIZE)
    except InvalidInputError as error:
        raise refuse_params(str(error)) from None
    content: dict[str, Any] = {"resources": [_describe(entry) for entry in page.entries]}
    if page.cursor is not None:
        content["nextCursor"] = write_cursor(page.cursor)
    return Complete(content, ttl_ms=LIST_TTL_MS)


async def list_templates(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer resources/templates/list: the one template, a file by its key."""
    if read_cursor(exchange) is not None:
        raise refuse_params("cursor is not one of this list: begin without one")
    template = {
        "uriTemplate": TEMPLATE,
        "name": "file",
        "title": "A file of the workspace",
        "description": "The content of a file, by its key: reports/ferries.md, for example. Others may have written it.",
    }
    return Complete({"resourceTemplates": [template] if keeps_files(deps.tools) else []}, ttl_ms=LIST_TTL_MS)


async def read_resource(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer resources/read: the content of a file, as a text where it is one, else in Base64.

    Raise `McpError` with -32602 for a file that is not there, or is longer than `CONTENT_BYTES_MAX`, and 429 for too many.
    """
    caller, uri = get_caller(exchange).caller, exchange.get_text("uri")
    key = parse_uri(uri)
    if not keeps_files(deps.tools):
        raise refuse_missing(uri)
    take_token(deps.file_rates, f"downloads:{caller.owner.id}", READS_RATE, now=deps.clock.now(), what="downloads")
    async with hold_turn(deps, caller):
        file = await deps.files.head(caller.workspace, key)
        if file is None:
            raise refuse_missing(uri)
        if file.size_bytes > CONTENT_BYTES_MAX:
            raise refuse_params(
                f"uri names a file of {file.size_bytes:,} bytes, and at most {CONTENT_BYTES_MAX:,} are read as a resource: "
                f"download it from /v1/files/{quote(key)}"
            )
        content = await _read(deps, caller, file, uri)
    return Complete({"contents": [_write_content(uri, file, content)]})


async def _read(deps: ApiDependencies, caller: Caller, file: Object, uri: str) -> bytes:
    if not file.size_bytes:
        return b""
    try:
        part = await deps.files.read(caller.workspace, file.key, size=CONTENT_BYTES_MAX, version=file.version)
    except ObjectMissingError:
        raise refuse_missing(uri) from None
    except ObjectChangedError:
        raise refuse_params("uri names a file that was replaced while it was read: read it again") from None
    return part.content


def _write_content(uri: str, file: Object, content: bytes) -> dict[str, Any]:
    written: dict[str, Any] = {"uri": uri}
    if file.content_type:
        written["mimeType"] = file.content_type
    try:
        if not is_text_type(file.content_type):
            raise UnicodeError
        written["text"] = content.decode()
    except UnicodeError:
        written["blob"] = base64.b64encode(content).decode()
    return written


def _describe(entry: ObjectEntry) -> dict[str, Any]:
    return {
        "uri": name_resource(entry.key),
        "name": entry.key,
        "title": entry.key.rpartition("/")[2],
        "size": entry.size_bytes,
        "annotations": {"lastModified": entry.updated_at.isoformat(timespec="seconds").replace("+00:00", "Z")},
    }
