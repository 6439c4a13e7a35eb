"""Files of workspaces, asked of the function that may use their bucket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx

from ferryman.domain.files.direct_links import DirectLink
from ferryman.domain.files.object import (
    ABSENT,
    PAGE_MAX,
    Object,
    ObjectChangedError,
    ObjectMissingError,
    ObjectPage,
    ObjectSlice,
)
from ferryman.domain.files.rows import read_entries, read_entry, read_link, read_result
from ferryman.domain.files.writes import READ_BYTES_MAX, FileWrite
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.gcp.functions import FunctionClient
from ferryman.ports.errors import UnavailableError

FILES_FUNCTION = "files"
"""The function that may use the bucket."""

_EXPECTED = (
    httpx.codes.NOT_FOUND,
    httpx.codes.CONFLICT,
    httpx.codes.REQUEST_ENTITY_TOO_LARGE,
    httpx.codes.UNPROCESSABLE_ENTITY,
)


class RemoteFiles:
    """`ports.Files`: POST with an identity token to the function's routes (`serving.files`)."""

    def __init__(self, functions: FunctionClient) -> None:
        self._functions = functions

    async def list(self, workspace: str, prefix: str, *, cursor: str | None = None, most: int = PAGE_MAX) -> ObjectPage:
        body = {"workspace": workspace, "prefix": prefix, "cursor": cursor or "", "most": most}
        return read_entries(await self._ask("/list", body))

    async def head(self, workspace: str, key: str) -> Object | None:
        try:
            file = read_entry(await self._ask("/head", {"workspace": workspace, "key": key}))
        except ObjectMissingError:
            return None
        if not isinstance(file, Object):
            raise UnavailableError("files returned an answer that cannot be read")
        return file

    async def read(
        self, workspace: str, key: str, *, start: int = 0, size: int = READ_BYTES_MAX, version: str | None = None
    ) -> ObjectSlice:
        body = {"workspace": workspace, "key": key, "start": start, "size": size, "version": version or ""}
        head, _, content = (await self._send("/read", body)).content.partition(b"\n")
        about = json.loads(head)
        return ObjectSlice(
            content=content,
            start=int(about["start"]),
            size_bytes=int(about["size_bytes"]),
            content_type=str(about["content_type"]),
            version=str(about["version"]),
        )

    async def write(
        self, workspace: str, key: str, content: bytes, *, content_type: str, write: str, expected: str | None = None
    ) -> FileWrite:
        condition = "absent" if expected == ABSENT else expected or ""
        about = {"workspace": workspace, "key": key, "content_type": content_type, "write": write, "expected": condition}
        answer = await self._send("/write", b"\n".join((json.dumps(about).encode(), content)))
        return read_result(answer.json())

    async def find(self, workspace: str, key: str, *, write: str) -> FileWrite | None:
        answer = await self._ask("/find", {"workspace": workspace, "key": key, "write": write})
        return None if answer is None else read_result(answer)

    async def delete(self, workspace: str, key: str, *, write: str, version: str | None = None) -> FileWrite | None:
        body = {"workspace": workspace, "key": key, "write": write, "version": version or ""}
        answer = await self._ask("/delete", body)
        return None if answer is None else read_result(answer)

    async def purge(self, workspace: str, key: str, *, version: str) -> None:
        await self._ask("/purge", {"workspace": workspace, "key": key, "version": version})

    async def link(self, workspace: str, key: str, *, lifetime: timedelta) -> DirectLink:
        body = {"workspace": workspace, "key": key, "lifetime_s": int(lifetime.total_seconds())}
        return read_link(await self._ask("/link", body))

    async def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        return (await self._send(path, body)).json()

    async def _send(self, path: str, body: Mapping[str, Any] | bytes) -> httpx.Response:
        """Return the answer; raise what `ports.Files` does where it is none."""
        answer = await self._functions.post(FILES_FUNCTION, path, body, expected=_EXPECTED)
        if answer.status_code == httpx.codes.OK:
            return answer
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise ObjectMissingError
        if answer.status_code == httpx.codes.CONFLICT:
            raise ObjectChangedError
        problem = answer.json()
        if answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY and problem.get("errors"):
            raise InvalidInputError([Problem(str(row["field"]), str(row["message"])) for row in problem["errors"]])
        raise build_input_error("content", str(problem["detail"]))
