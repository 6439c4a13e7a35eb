"""`ferryman files`: the files of a workspace, listed, downloaded whole or not at all, stored and deleted."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.screen import Screen
from ferryman.client import PAGE_MAX, ApiRefusedError, ApiUnreachableError, AsyncClient
from ferryman.domain.counts import say_count
from ferryman.domain.files.keys import clean_key
from ferryman.domain.files.links import LINK_LIFETIME
from ferryman.domain.files.writes import FILE_BYTES_MAX

KIB = 1024
DOWNLOADS_MAX = 5
"""How often a download that broke off goes on, each time from where it was."""

SECONDS_MAX = int(LINK_LIFETIME.total_seconds())

OUT = click.Path(path_type=Path)
SOURCE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(no_args_is_help=True)
def files() -> None:
    """List, download, link to, store and delete the files of a workspace."""


@files.command()
@click.argument("prefix", default="")
@api_command
async def ls(session: ApiSession, prefix: str) -> None:
    """List the files whose keys begin with PREFIX; without it, all files."""
    rows = [row async for row in session.client.iterate_files(prefix, limit=PAGE_MAX)]
    session.screen.print_list(rows, "key", "size_bytes", "updated_at", "etag", empty="There are no files.")


@files.command("get")
@click.argument("key")
@click.argument("out", type=OUT, required=False)
@api_command
async def get_(session: ApiSession, key: str, out: Path | None) -> int:
    """Download the file KEY to OUT.

    Without OUT, the file gets its own name in this folder; where OUT is a folder, in that one. It is there only when it is
    whole. A download that broke off leaves what has come in a file of another name, and the same command goes on from there.
    """
    file, screen = await _find(session.client, key), session.screen
    name = Path(str(file["key"])).name
    path = await asyncio.to_thread(_choose_path, out, name)
    try:
        await _download(session.client, file, path, screen)
    except OSError as error:
        screen.print_error(f"{path} cannot be written ({error.strerror})")
        return exits.FAILED
    size = int(file["size_bytes"])
    screen.print_result({**file, "file": str(path)}, f"{path}: {say_count(size, 'bytes')} of {file['key']}")
    return exits.DONE


@files.command()
@click.argument("source", metavar="FILE", type=SOURCE)
@click.argument("key", required=False)
@click.option("--type", "content_type", help="Its content type; by default, it follows from the name's ending.")
@click.option("--if-absent", is_flag=True, help="Replace no file that is there.")
@click.option("--if-match", metavar="ETAG", help="Replace this version only, as `ferryman files ls` names it.")
@api_command
async def put(
    session: ApiSession, source: Path, key: str | None, content_type: str | None, if_absent: bool, if_match: str | None
) -> int:
    """Store FILE as KEY.

    Without KEY, the file is stored under its own name; where KEY ends with /, under its own name in that folder.
    """
    content, screen = await asyncio.to_thread(_read, source), session.screen
    size = len(content)
    if size > FILE_BYTES_MAX:
        screen.print_error(f"{source} has more than the {FILE_BYTES_MAX:,} bytes that a file may have")
        return exits.REFUSED
    chosen = clean_key(f"{key}{source.name}" if key is not None and key.endswith("/") else key or source.name)
    kind = content_type or mimetypes.guess_type(source.name)[0]
    with screen.show_progress(f"storing {size // KIB:,} KiB as {chosen}"):
        stored = await session.client.put_file(chosen, content, content_type=kind, if_match=if_match, if_absent=if_absent)
    done = "stored" if stored["created"] else "replaced"
    screen.print_result(stored, f"{stored['key']} is {done}: {say_count(size, 'bytes')}, etag {stored['etag']}")
    return exits.DONE


@files.command()
@click.argument("key")
@click.option("--direct", is_flag=True, help="Make a direct link: good without an API key, for anybody who has it.")
@click.option(
    "--seconds", type=click.IntRange(1, SECONDS_MAX), default=SECONDS_MAX, show_default=True, help="Its lifetime in seconds."
)
@api_command
async def link(session: ApiSession, key: str, direct: bool, seconds: int) -> None:
    """Make a link to the file KEY as it is now.

    The link is good together with this API key alone. A direct link downloads the file for anybody who has it, also in a
    browser. It needs the right to manage and a deployment that allows direct links; the history tells who asked.
    """
    client, about = session.client, "with this API key"
    if direct:
        answer = dict(await client.create_direct_link(key, expires_in_s=seconds))
        about = "for anybody who has it" + ("" if answer["version_bound"] else ", of any version")
    else:
        answer = dict(await client.get_file_link(key, expires_in_s=seconds))
        answer["url"] = f"{client.url}{answer['path']}"
    session.screen.print_result(answer, f"{answer['url']}\ngood until {answer['expires_at']}, {about}")


@files.command()
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@api_command
async def rm(session: ApiSession, keys: tuple[str, ...]) -> None:
    """Delete files."""
    for key in keys:
        await session.client.delete_file(key)
        session.screen.print_result({"key": key, "deleted": True}, f"{key} is deleted")


def _choose_path(out: Path | None, name: str) -> Path:
    return out / name if out is not None and out.is_dir() else out or Path(name)


def _read(source: Path) -> bytes:
    with source.open("rb") as file:
        return file.read(FILE_BYTES_MAX + 1)


async def _find(client: AsyncClient, key: str) -> Mapping[str, Any]:
    """Return the file of this key as it is listed. Raise `ApiRefusedError` where there is none."""
    for file in await client.list_files(key, limit=1):
        if file["key"] == key:
            return dict(file)
    raise ApiRefusedError(404, f"there is no file {key}")


async def _download(client: AsyncClient, file: Mapping[str, Any], path: Path, screen: Screen) -> None:
    """Write a file to `path`, at once and whole. Raise OSError, `ApiUnreachableError` and `ApiRefusedError`."""
    version = hashlib.sha256(f"{client.url}\0{file['key']}\0{file['etag']}".encode()).hexdigest()[:12]
    partial, size = path.with_name(f".{path.name}.{version}.partial"), int(file["size_bytes"])
    with screen.show_progress(f"downloading {file['key']}"), partial.open("ab") as written:
        if written.tell() > size:
            written.truncate(0)
        for attempt in range(1, DOWNLOADS_MAX + 1):
            try:
                await _append(client, file, written, size, screen)
            except ApiUnreachableError:
                if attempt == DOWNLOADS_MAX:
                    raise
            except ApiRefusedError:
                # what came is of a version that is no longer there
                partial.unlink(missing_ok=True)
                raise
            if written.tell() == size:
                break
        else:
            raise ApiUnreachableError(f"the download broke off {DOWNLOADS_MAX} times; the same command goes on from there")
        os.fsync(written.fileno())
    os.replace(partial, path)


async def _append(client: AsyncClient, file: Mapping[str, Any], written: Any, size: int, screen: Screen) -> None:
    start = written.tell()
    if start == size:
        return
    async for part in client.download_file(str(file["key"]), start=start, etag=str(file["etag"])):
        written.write(part)
        screen.show_count("KiB", written.tell() // KIB, max(size // KIB, 1))
    written.flush()
