"""Files: private, and written so that a reader, or a start after a kill, finds the old one or the new one, whole."""

from __future__ import annotations

import os
from pathlib import Path

PRIVATE = 0o600


class FolderPermissionError(OSError):
    """A folder that is to hold keys lets other users in."""


def replace(path: Path, text: str) -> None:
    """Write a file in one step, readable by its owner alone from its first byte on."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "w") as out:
        out.write(text)
    os.replace(draft, path)


def private_folder(path: Path) -> Path:
    """Make sure that the folder is there and closed to other users; raise OpenFolderError for one that is not."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise FolderPermissionError(
            f"{path} would hold keys and is open to other users of this machine "
            f"(owner {status.st_uid}, mode {status.st_mode & 0o777:o}): close it with `chmod 700 {path}`, or name another"
        )
    return path
