"""`ferryman workspace export`: everything of a workspace as one file, whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import click

from ferryman.archives.reading import iterate_files, read_archive
from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.screen import Screen
from ferryman.domain.archives.file_lines import FILES
from ferryman.domain.archives.lines import ArchiveError, read_lines
from ferryman.domain.archives.manifest import Manifest
from ferryman.domain.counts import list_counts, say_count
from ferryman.serving.archived_files import FileCheck

MIB = 1_048_576
OUT = click.Path(dir_okay=False, path_type=Path)


@click.command("export")
@click.argument("workspace_id", metavar="WORKSPACE")
@click.option("--out", type=OUT, help="The file to write; default: WORKSPACE.tar.gz.")
@api_command
async def export_workspace(session: ApiSession, workspace_id: str, out: Path | None) -> int:
    """Write everything of WORKSPACE to an archive that holds no secret: ferryman verify FILE proves it without a service.

    The file is there once it is whole and every digest in it is right; until then it has another name, and what broke off
    leaves nothing. Executions that have not ended are left out.
    """
    path, screen = out or Path(f"{workspace_id}.tar.gz"), session.screen
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        manifest = await _write(session.client.export_workspace(workspace_id), partial, screen)
        os.replace(partial, path)
    except OSError as error:
        screen.print_error(f"{path} cannot be written ({error.strerror})")
        return exits.FAILED
    except ArchiveError as error:
        screen.print_error(f"nothing was written: what came is no whole archive ({error})")
        return exits.FAILED
    finally:
        partial.unlink(missing_ok=True)
    size = path.stat().st_size
    counts = list_counts({kind: count for kind, count in manifest.counts.items() if count and kind != "workspace"})
    left_out = f"; {manifest.left_out} under way left out" if manifest.left_out else ""
    missing = _list_left_out(path) if manifest.files_left_out else []
    document = {"file": str(path), "bytes": size, "counts": dict(manifest.counts), "left_out": manifest.left_out}
    document |= {"file_bytes": manifest.file_bytes, "files_left_out": missing, "digest": manifest.digest()}
    screen.print_result(document, f"{path}: {say_count(size, 'bytes')}: {counts}{left_out}")
    for sentence in missing:
        screen.print_line(sentence)
    if manifest.file_bytes is None:
        screen.print_line("No files are in it: the deployment keeps none, since it has no bucket for them.")
    return exits.DONE


def _list_left_out(path: Path) -> list[str]:
    """Return a sentence of each file of the workspace that is named in the archive and not there."""
    sentences: list[str] = []
    check = FileCheck(sentences.append)
    with path.open("rb") as archive:
        for name, data in iterate_files(archive):
            if name.startswith(f"{FILES}-"):
                for place, line in read_lines(name, data):
                    check.read(place, line)
    return sentences


async def _write(parts: AsyncIterator[bytes], partial: Path, screen: Screen) -> Manifest:
    """Write an archive to the file `partial`, make it last, and read it again. Raise `ArchiveError` and OSError."""
    done = 0
    with screen.show_progress("exporting"), partial.open("xb") as file:
        async for part in parts:
            file.write(part)
            done += len(part)
            screen.show_count("KiB", done // 1024, max(done // 1024, 1))
        file.flush()
        os.fsync(file.fileno())
    with screen.show_progress("verifying"), partial.open("rb") as file:
        return read_archive(file, count=lambda read: screen.show_count("KiB", read // 1024, done // 1024))
