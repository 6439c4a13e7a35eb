"""Archives taken apart and sent to the API, file after file, as the command line does."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

import httpx

from ferryman.archives.reading import iterate_files, read_archive
from ferryman.domain.archives.files import measure_file
from ferryman.domain.archives.lines import read_lines
from ferryman.domain.archives.manifest import MANIFEST
from ferryman.domain.workspaces.imports import chain_file

IMPORTS = "/v1/imports"
Files = dict[str, bytes]


def take_apart(archive: bytes) -> tuple[dict[str, Any], Files]:
    """Return what an import begins with, and the files."""
    manifest = read_archive(io.BytesIO(archive))
    files = {name: data for name, data in iterate_files(io.BytesIO(archive)) if name != MANIFEST}
    return manifest.to_import(), files


def describe(begins: Mapping[str, Any], files: Files) -> dict[str, Any]:
    """Return what an import of these files begins with, where they are others than those of the archive."""
    digest = ""
    for name, data in files.items():
        digest = chain_file(digest, name, measure_file(name, data).sha256)
    return {**begins, "files": len(files), "digest": digest}


def describe_file(name: str, data: bytes) -> dict[str, str]:
    """Return the request of one file."""
    return {"name": name, "sha256": hashlib.sha256(data).hexdigest(), "content": data.decode()}


async def send_files(client: httpx.AsyncClient, workspace: str, files: Files, first: int = 0) -> httpx.Response:
    """Send files from the one at `first` on, until one is refused; return the last answer."""
    answer = httpx.Response(500)
    for number, (name, data) in [*enumerate(files.items())][first:]:
        answer = await client.put(f"{IMPORTS}/{workspace}/files?number={number}", json=describe_file(name, data))
        if answer.is_error:
            break
    return answer


async def import_archive(client: httpx.AsyncClient, archive: bytes) -> str:
    """Import an archive and return the new workspace."""
    begins, files = take_apart(archive)
    begun = await client.post(IMPORTS, json=begins)
    assert begun.status_code == 201, begun.text
    workspace: str = begun.json()["workspace_id"]
    ended = await send_files(client, workspace, files)
    assert (ended.status_code, ended.json().get("state")) == (200, "active"), ended.text
    return workspace


def spread_history(files: Files) -> Files:
    """Return the files with each line of the executions in one of its own."""
    return spread_lines(files, "executions")


def spread_lines(files: Files, kind: str, most: int = 1) -> Files:
    """Return the files with at most `most` lines of one kind in each of its own, which are where the first of them was."""
    names = [name for name in files if name.startswith(f"{kind}-")]
    lines = b"".join(files[name] for name in names).splitlines(keepends=True)
    parts = [b"".join(lines[first : first + most]) for first in range(0, len(lines), most)]
    spread: Files = {}
    for name, data in files.items():
        if name not in names:
            spread[name] = data
        elif name == names[0]:
            spread |= {f"{kind}-{number:06}.jsonl": part for number, part in enumerate(parts, 1)}
    return spread


def read_values(files: Files, kind: str) -> list[dict[str, Any]]:
    """Return the lines of one kind."""
    chosen = [(name, data) for name, data in files.items() if name.startswith(f"{kind}-")]
    return [line for name, data in chosen for _, line in read_lines(name, data)]


def replace_line(files: Files, name: str, number: int, change: Any) -> Files:
    """Return the files with line `number` of one, from 0, as `change` makes it of the one that is there."""
    lines = files[name].splitlines()
    value = change(json.loads(lines[number]))
    lines[number] = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return {**files, name: b"".join(line + b"\n" for line in lines)}
