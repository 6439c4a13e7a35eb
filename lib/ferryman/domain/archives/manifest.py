"""The manifest of an archive: its format, what it is of, and each file with its size and its SHA-256."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import reduce
from typing import Any

from ferryman.domain.archives.files import KINDS, ArchiveFile, check_names
from ferryman.domain.archives.lines import FILE_BYTES_MAX, ArchiveError
from ferryman.domain.ids import is_id
from ferryman.domain.workspaces.imports import chain_file

FORMAT = "ferryman-workspace/1"
MANIFEST = "manifest.json"
MANIFEST_BYTES_MAX = 16_777_216
FILES_MAX = 100_000
COUNT_MAX = 10**15
"""Above every number of bytes, lines and things that a manifest can name."""

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_VERSION = re.compile(r"[1-9][0-9]{0,14}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)
_LINE_EACH = tuple(kind for kind in KINDS if kind not in ("files", "executions"))
"""The kinds of which each thing is one line."""

_NAME_CHARACTERS_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an archive says of itself.

    `counts` are the numbers of things by kind, `left_out` that of executions which had not ended when they were read, and
    `keys` the public keys by version that the receipts were signed with, in hex. `exported_at` is UTC. `file_bytes` are those
    of the workspace's files together, None where the deployment keeps none, and `files_left_out` the number of those that are
    named and not in the archive.
    """

    workspace: str
    name: str
    exported_at: str
    counts: Mapping[str, int]
    left_out: int
    file_bytes: int | None
    files_left_out: int
    keys: Mapping[str, str]
    files: tuple[ArchiveFile, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as it is written."""
        members = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            "format": FORMAT,
            **members,
            "counts": {**self.counts},
            "keys": {**self.keys},
            "files": [*map(asdict, self.files)],
        }

    def to_import(self) -> dict[str, Any]:
        """Return what an import of the archive begins with."""
        about = {"format": FORMAT, "workspace": self.workspace, "name": self.name, "files": len(self.files)}
        about |= {"file_bytes": self.file_bytes or 0}
        return {**about, "digest": self.digest(), "counts": {**self.counts}, "keys": {**self.keys}}

    def digest(self) -> str:
        """Return a SHA-256, in hex, of what the archive holds: its files by name and digest, each chained to those before."""
        return reduce(lambda before, file: chain_file(before, file.name, file.sha256), self.files, "")


def parse_manifest(value: Any) -> Manifest:
    """Return the manifest that a JSON value is. Raise `ArchiveError` with the first problem."""
    _need(isinstance(value, dict), "is no JSON object")
    known = value.get("format")
    _need(known == FORMAT, f"has the format {str(known)[:40]!r}; this version reads {FORMAT}")
    _need(value.keys() == {"format", *(field.name for field in fields(Manifest))}, "has other members than it must have")
    _need(isinstance(value["workspace"], str) and is_id(value["workspace"]), "workspace: is no id")
    name, counts, keys, files = value["name"], value["counts"], value["keys"], value["files"]
    _need(isinstance(name, str) and 0 < len(name) <= _NAME_CHARACTERS_MAX, "name: must be a text of at most 100 characters")
    _need(_fits(_MOMENT, value["exported_at"]), "exported_at: is no moment in UTC")
    _need(isinstance(counts, dict) and all(map(_is_count, counts.values())), "counts: must be whole numbers by kind")
    _need(counts.keys() == set(KINDS), f"counts: must name {', '.join(KINDS)}")
    _need(_is_count(value["left_out"]), "left_out: must be a whole number")
    _need(_is_count(value["files_left_out"]), "files_left_out: must be a whole number")
    _need(value["file_bytes"] is None or _is_count(value["file_bytes"]), "file_bytes: must be a whole number, or null")
    _need(value["file_bytes"] is not None or not counts["files"], "file_bytes: is null, and there are files")
    _need(isinstance(keys, dict) and all(_fits(_VERSION, key) for key in keys), "keys: must be named by their versions")
    _need(all(_fits(_DIGEST, key) for key in keys.values()), "keys: must be public keys in hex")
    _need(isinstance(files, list) and len(files) <= FILES_MAX, f"files: must be a list of at most {FILES_MAX}")
    parsed = tuple(_parse_file(number, file) for number, file in enumerate(files))
    for _ in check_names(file.name for file in parsed):
        pass
    _need(bool(parsed) and parsed[0].kind == KINDS[0] and parsed[0].lines == 1, "files: must begin with the workspace's")
    for kind in _LINE_EACH:
        lines = sum(file.lines for file in parsed if file.kind == kind)
        _need(counts[kind] == lines, f"counts.{kind}: is {counts[kind]}, and its files have {lines} lines")
    members = {field.name: value[field.name] for field in fields(Manifest)}
    return Manifest(**{**members, "files": parsed})


def _parse_file(number: int, value: Any) -> ArchiveFile:
    names = {field.name for field in fields(ArchiveFile)}
    _need(isinstance(value, dict) and value.keys() == names, f"files.{number}: must have {', '.join(sorted(names))}")
    _need(isinstance(value["name"], str), f"files.{number}.name: must be a text")
    _need(_fits(_DIGEST, value["sha256"]), f"files.{number}.sha256: must be a SHA-256 in hex")
    counts = all(_is_count(value[name]) and value[name] > 0 for name in ("lines", "bytes"))
    _need(counts and value["bytes"] <= FILE_BYTES_MAX, f"files.{number}: must have a line, and at most {FILE_BYTES_MAX} bytes")
    return ArchiveFile(**value)


def _need(true: bool, otherwise: str) -> None:
    if not true:
        raise ArchiveError(MANIFEST, otherwise)


def _fits(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < COUNT_MAX
