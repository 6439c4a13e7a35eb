"""Imports of archives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.client import answers
from ferryman.client.request import ApiRequest, build_path, get, post, read_as
from ferryman.domain.archives.files import measure_file

FILE_S = 300.0
"""How long the service may take for a file: it makes some hundred things of one."""


def begin_import(about: Mapping[str, Any], *, key: str | None = None) -> ApiRequest[answers.ArchiveImportJson]:
    """Begin to import an archive into a new workspace, with the owner's own key, or find the import of it that is not finished.

    `about` is what `Manifest.to_import` returns; `key` is an idempotency key of yours.
    """
    return post(build_path("imports"), read_as(answers.ArchiveImportJson), about, key=key)


def get_import(workspace: str) -> ApiRequest[answers.ArchiveImportJson]:
    """Return how far the import into a workspace is."""
    return get(build_path("imports", workspace), read_as(answers.ArchiveImportJson))


def put_import_file(workspace: str, number: int, name: str, content: bytes) -> ApiRequest[answers.ArchiveImportJson]:
    """Store the file `number`, from 0, of an archive; sent again, the one that was stored last has no further effect.

    Where the service is busy, it is sent again when that asks for it.
    """
    body = {"name": name, "sha256": measure_file(name, content).sha256, "content": content.decode("ascii")}
    return ApiRequest(
        method="PUT",
        path=build_path("imports", workspace, "files"),
        read=read_as(answers.ArchiveImportJson),
        query={"number": str(number)},
        body=body,
        within_s=FILE_S,
        repeatable=True,
        waits_for_turn=True,
    )
