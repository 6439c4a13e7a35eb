"""Archives as anybody may make them: whole ones, and each kind of wrong one."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from typing import Any

from ferryman.archives.writing import ArchiveWriter
from ferryman.domain.archives.files import KINDS
from ferryman.domain.archives.lines import FILE_BYTES_MAX, LINE_BYTES_MAX
from ferryman.domain.archives.manifest import MANIFEST
from tests.repeated import compress_repeated

ABOUT: Mapping[str, Any] = {
    "workspace": "ws_1",
    "name": "Kitchen",
    "exported_at": "2026-11-23T09:00:00Z",
    "counts": {**dict.fromkeys(KINDS, 0), "workspace": 1},
    "left_out": 0,
    "file_bytes": 0,
    "files_left_out": 0,
    "keys": {"1": "ab" * 32},
}
FIRST, SECOND = "workspace-000001.jsonl", "tasks-000001.jsonl"


def write_whole(tasks: int = 2) -> bytes:
    """Return an archive of a workspace with some tasks."""
    writer = ArchiveWriter()
    parts = [writer.add("workspace", lambda: [{"id": "ws_1", "name": "Kitchen"}])]
    parts.append(writer.add("tasks", lambda: [{"id": f"task_{number}", "name": "ü"} for number in range(tasks)]))
    counts = {**ABOUT["counts"], "tasks": tasks}
    return b"".join([*parts, writer.end({**ABOUT, "counts": counts})])


def unpack(archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive, as Python's own reader finds them."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr] # all are files


def pack(entries: list[tuple[tarfile.TarInfo, bytes]], *, form: int = tarfile.USTAR_FORMAT) -> bytes:
    """Return a tar of `entries` in gzip."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as tar:
        for header, data in entries:
            header.size = len(data) if header.isfile() else 0
            tar.addfile(header, io.BytesIO(data) if header.isfile() else None)
    return gzip.compress(file.getvalue(), mtime=0)


def repack(change: Callable[[dict[str, bytes]], None], *, keep_digests: bool = True) -> bytes:
    """Return the whole archive with a change of its files, whose manifest is as before, or fits them again."""
    files = unpack(write_whole())
    change(files)
    if not keep_digests:
        import hashlib

        manifest = json.loads(files.pop(MANIFEST))
        manifest["files"] = [
            {"name": name, "bytes": len(data), "lines": data.count(b"\n"), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
        ]
        files[MANIFEST] = json.dumps(manifest).encode()
    return pack([(tarfile.TarInfo(name), data) for name, data in files.items()])


def insert(header: tarfile.TarInfo, data: bytes = b"", *, form: int = tarfile.USTAR_FORMAT) -> bytes:
    """Return the whole archive with another entry before its manifest."""
    entries = [(tarfile.TarInfo(name), content) for name, content in unpack(write_whole()).items()]
    return pack([*entries[:-1], (header, data), entries[-1]], form=form)


def _entry(name: str, kind: bytes = tarfile.REGTYPE, linkname: str = "") -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, linkname
    return header


def _change_manifest(**members: Any) -> bytes:
    def change(files: dict[str, bytes]) -> None:
        files[MANIFEST] = json.dumps({**json.loads(files[MANIFEST]), **members}).encode()

    return repack(change)


def _drop(name: str) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        del files[name]

    return change


def _put(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        files[name] = data

    return change


WHOLE = write_whole()
MEBIBYTE, BOMB = 1_048_576, 256
"""So many mebibytes of zeros are a quarter of one in gzip."""

FORGED: Mapping[str, tuple[bytes, str]] = {
    "nothing": (b"", "the archive: was cut short"),
    "no gzip": (b"PK\x03\x04" + bytes(100), "the archive: is not compressed with gzip"),
    "cut short": (WHOLE[:-9], "was cut short"),
    "cut in half": (WHOLE[: len(WHOLE) // 2], "was cut short"),
    "something behind": (WHOLE + b"x", f"does not end after {MANIFEST}"),
    "another archive behind": (WHOLE + WHOLE, f"does not end after {MANIFEST}"),
    "a bit turned": (WHOLE[:60] + bytes([WHOLE[60] ^ 1]) + WHOLE[61:], "the archive"),
    "zeros alone, many": (compress_repeated(bytes(MEBIBYTE), BOMB), "manifest.json: is missing"),
    "zeros behind, many": (
        compress_repeated(bytes(MEBIBYTE), BOMB, before=gzip.decompress(WHOLE)),
        f"does not end after {MANIFEST}",
    ),
    "a file too large": (
        insert(_entry("tools-000001.jsonl"), bytes(FILE_BYTES_MAX + 1)),
        "tools-000001.jsonl: has 8912897 bytes",
    ),
    "a line too long": (
        repack(_put(SECOND, b'{"a":"' + b"a" * LINE_BYTES_MAX + b'"}\n'), keep_digests=False),
        "",
    ),
    "up the path": (insert(_entry("../../etc/passwd"), b"{}\n"), "../../etc/passwd: is no name of a file of an archive"),
    "an absolute path": (insert(_entry("/etc/passwd"), b"{}\n"), "is no name of a file of an archive"),
    "a symbolic link": (insert(_entry("tools-000001.jsonl", tarfile.SYMTYPE, "/etc/passwd")), "is no plain file"),
    "a hard link": (insert(_entry("tools-000001.jsonl", tarfile.LNKTYPE, FIRST)), "is no plain file"),
    "a folder": (insert(_entry("tools", tarfile.DIRTYPE)), "is no plain file"),
    "a device": (insert(_entry("tools-000001.jsonl", tarfile.CHRTYPE)), "is no plain file"),
    "a long name": (insert(_entry("t" * 300), b"{}\n", form=tarfile.GNU_FORMAT), "is no plain file"),
    "an extended header": (insert(_entry("ü" * 120), b"{}\n", form=tarfile.PAX_FORMAT), "is no plain file"),
    "an empty file": (insert(_entry("tools-000001.jsonl")), "tools-000001.jsonl: has 0 bytes"),
    "a file that is missing": (repack(_drop(SECOND)), f"{MANIFEST}: names 2 files, and there are 1"),
    "no manifest": (repack(_drop(MANIFEST)), f"{MANIFEST}: is missing"),
    "a file twice": (insert(_entry(SECOND), b"{}\n"), f"{SECOND}: is not where it must be"),
    "a file out of order": (insert(_entry("agents-000001.jsonl"), b"{}\n"), "agents-000001.jsonl: is not where it must be"),
    "a number left out": (insert(_entry("tasks-000003.jsonl"), b"{}\n"), "tasks-000003.jsonl: is not where it must be"),
    "one more file": (insert(_entry("tools-000001.jsonl"), b"{}\n"), f"{MANIFEST}: names 2 files, and there are 3"),
    "other content": (repack(_put(SECOND, b'{"id":"task_9"}\n')), f"{SECOND}: is not as {MANIFEST} says"),
    "an unknown version": (_change_manifest(format="ferryman-workspace/2"), "this version reads ferryman-workspace/1"),
    "another format": (_change_manifest(format=7), "has the format '7'"),
    "one more member": (_change_manifest(owner="ann"), "has other members than it must have"),
    "a forged workspace": (_change_manifest(workspace="../ws"), "workspace: is no id"),
    "counts of others": (
        _change_manifest(counts={**dict.fromkeys(KINDS, 0), "workspace": 1, "tasks": 7}),
        "counts.tasks: is 7, and its files have 2 lines",
    ),
    "counts below zero": (_change_manifest(counts=dict.fromkeys(KINDS, -1)), "counts: must be whole numbers by kind"),
    "a key that is none": (_change_manifest(keys={"1": "zz"}), "keys: must be public keys in hex"),
    "a manifest of text": (repack(_put(MANIFEST, b"hello")), f"{MANIFEST}: is no JSON"),
    "a deep manifest": (repack(_put(MANIFEST, b"[" * 1_000_000)), f"{MANIFEST}: is no JSON"),
}
"""Archives that are refused, each with the words of the refusal; where there are none, its lines are refused."""

LINES: Mapping[str, tuple[bytes, str]] = {
    "no end": (b'{"a":1}', "does not end with the end of a line"),
    "no JSON": (b"hello\n", "line 1: is no JSON"),
    "no object": (b"[]\n", "line 1: is no JSON object"),
    "an empty line": (b'{"a":1}\n\n', "line 2: is no JSON"),
    "spaces": (b'{"a": 1}\n', "line 1: is not written as canonical JSON"),
    "another order": (b'{"b":1,"a":1}\n', "line 1: is not written as canonical JSON"),
    "a member twice": (b'{"a":1,"a":1}\n', "line 1: is not written as canonical JSON"),
    "a number that is none": (b'{"a":NaN}\n', "line 1: is not written as canonical JSON"),
    "a number too long": (b'{"a":' + b"9" * 5_000 + b"}\n", "line 1: is no JSON"),
    "a number written otherwise": (b'{"a":1e0}\n', "line 1: is not written as canonical JSON"),
    "bytes beyond ASCII": ('{"a":"ü"}\n'.encode(), "line 1: is not written as canonical JSON"),
    "half a character": (b'{"a":"\\ud800"}\n', "line 1: must be valid Unicode"),
    "half a character in a name": (b'{"\\udfff":1}\n', "line 1: must be valid Unicode"),
    "deep": (b'{"a":' + b"[" * 200 + b"]" * 200 + b"}\n", "line 1: is nested more than 100 deep"),
    "very deep": (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "line 1: is nested too deep"),
    "no UTF-8": (b'{"a":"\xff"}\n', "line 1: is no JSON"),
    "a mark of byte order": (b"\xef\xbb\xbf{}\n", "line 1: is no"),
    "too long": (b'{"a":"' + b"a" * LINE_BYTES_MAX + b'"}\n', "line 1: has 8388617 bytes"),
    "too large": (bytes(FILE_BYTES_MAX + 1), "and at most 8912896 may be in a file"),
}
"""Files whose lines are refused, each with the words of the refusal."""
