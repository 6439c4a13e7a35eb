"""Archives of a scenario: the attacker's own workspace, exported, with other lines of files in it, and imported."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from ferryman.domain.archives.lines import write_line
from tests.campaigns.hostile.harness import Harness
from tests.serving.importing import IMPORTS, Files, describe, describe_file, take_apart

IMPORTS_FORGED = "import"
"""The method of an act that imports an archive.

Its body has the `lines` of the workspace's files, and members that it `begins` with. The new workspace `goes` before the first
file comes, if it says so, and what has the lines is `packed`.
"""

FIRST = "files-000001.jsonl"
BOMB_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgedImport:
    """What became of an import: its last answer, and the files that are `listed` then; None where there is no workspace."""

    status: int
    body: bytes = field(repr=False)
    listed: Mapping[str, Any] | None = field(default=None, repr=False)


@dataclass(slots=True, kw_only=True)
class Importer:
    """Imports forged archives as one owner; the owner's workspace is exported once."""

    harness: Harness
    headers: Mapping[str, str] = field(repr=False)
    workspace: str
    archive: bytes = field(default=b"", repr=False)

    async def run(self, forged: Mapping[str, Any]) -> ForgedImport:
        """Import an archive with these lines, until it is refused."""
        if not self.archive:
            self.archive = (await self._ask("GET", f"/v1/workspaces/{self.workspace}/export")).raise_for_status().content
        begins, files = take_apart(self.archive)
        lines = forged.get("lines", ())
        files[FIRST] = b"".join(map(write_line, lines))
        sizes = sum(line["size_bytes"] for line in lines if line["kind"] == "file")
        counts = {**begins["counts"], "files": sum(line["kind"] == "end" for line in lines)}
        begins = describe(begins, files) | {"counts": counts, "file_bytes": sizes, **forged.get("begins", {})}
        answer = await self._ask("POST", IMPORTS, json=begins)
        if answer.is_error:
            return ForgedImport(status=answer.status_code, body=answer.content)
        place = str(answer.json()["workspace_id"])
        if forged.get("goes"):
            (await self._ask("DELETE", f"/v1/workspaces/{place}")).raise_for_status()
        answer = await self._send(place, files, packed=bool(forged.get("packed")))
        listed = await self._ask("GET", "/v1/files", headers={"Ferryman-Workspace": place})
        rows = listed.json() if listed.is_success else None
        return ForgedImport(status=answer.status_code, body=answer.content, listed=rows)

    async def _send(self, place: str, files: Files, *, packed: bool) -> httpx.Response:
        answer = httpx.Response(500)
        for number, (name, data) in enumerate(files.items()):
            body = json.dumps(describe_file(name, data)).encode()
            headers = {"content-type": "application/json"}
            if packed and name == FIRST:
                body, headers["content-encoding"] = gzip.compress(body + b" " * BOMB_BYTES), "gzip"
            answer = await self._ask("PUT", f"{IMPORTS}/{place}/files?number={number}", content=body, headers=headers)
            if answer.is_error:
                break
        return answer

    async def _ask(self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> httpx.Response:
        url = self.harness.url + path
        return await self.harness.http.request(method, url, headers={**self.headers, **(headers or {})}, **more)


def find_import_faults(imports: Iterable[ForgedImport], board: str | None, secret: str) -> Iterable[str]:
    """Find files that an import has left although it was refused, and a change of the victim's own file."""
    for forged in imports:
        if forged.listed is not None and forged.status >= 400 and (forged.listed["files"] or forged.listed["used_bytes"]):
            yield f"an import that was refused ({forged.status}) has left {forged.listed['files']}"
        if forged.status < 400:
            yield f"a forged archive was imported: {forged.body[:200]!r}"
    if board is not None and board != json.dumps(secret):
        yield "the victim's file is another one"
