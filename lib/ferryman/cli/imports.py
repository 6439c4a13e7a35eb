"""`ferryman workspace import`: an archive becomes a new workspace, verified offline first, and resumed where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ferryman import verify_receipts as verifier
from ferryman.archives.reading import iterate_files, read_archive
from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.screen import Screen
from ferryman.domain.approvals.archived_rules import find_distrusted
from ferryman.domain.archives.files import NOT_IMPORTED
from ferryman.domain.archives.lines import ArchiveError, read_lines
from ferryman.domain.archives.manifest import MANIFEST, Manifest
from ferryman.domain.counts import list_counts
from ferryman.domain.workspaces.imports import derive_id
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.serving.verify_archive import read_keys, verify_archive

KINDS_WITH_RULES = {"workspace": "workspace", "agents": "agent", "tasks": "task"}
"""What has rules of approvals, by the names of its files."""

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("import")
@click.argument("file", metavar="FILE", type=FILE)
@click.option("--public-key", multiple=True, help="VERSION:HEX or a file of such, of where it was exported; wins over FILE's.")
@api_command
async def import_workspace(session: ApiSession, file: Path, public_key: tuple[str, ...]) -> int:
    """Make a new workspace of the archive FILE, with the owner's own key alone.

    Everything in FILE is verified before anything is sent. What is interrupted goes on where it stopped when the same command
    is typed again; until the end the workspace is importing, and nothing in it is started. Values of credentials are in no
    archive: those to be entered again are listed. Schedules wait until you turn their tasks on. Rules of approvals by which
    nobody would be asked are imported as `when_untrusted`, and listed: write `never` again where you mean it.
    """
    screen = session.screen
    try:
        manifest = _verify(file, read_keys(public_key), screen)
        begun = await session.client.begin_import(manifest.to_import())
        workspace = begun["workspace_id"]
        with screen.show_progress("importing"), file.open("rb") as archive:
            for number, (name, data) in enumerate(iterate_files(archive)):
                if begun["following"] <= number < begun["files"]:
                    await session.client.put_import_file(workspace, number, name, data)
                    screen.show_count(name, number + 1, begun["files"])
    except ArchiveError as error:
        screen.print_error(f"{file} is refused: {error}")
        return exits.FAILED
    except (OSError, ValueError) as error:
        screen.print_error(f"{file} cannot be read ({error})")
        return exits.FAILED
    ended = await session.client.get_import(workspace)
    credentials = list(_list_credentials(file, workspace))
    document = {"workspace_id": workspace, "state": ended["state"], "counts": ended["counts"], "credentials": credentials}
    document["rules"] = rules = list(_list_rules(file, workspace))
    counts = list_counts(_select_imported(ended["counts"]))
    screen.print_result(document, f"{workspace}: {counts}")
    for needed in credentials:
        about = f"{needed['name']} of {needed['service']}, sent to {', '.join(needed['hosts'])}"
        screen.print_line(f"To be entered again for {needed['task']} ({needed['task_id']}): {about}")
    for rule in rules:
        of = f"rule {rule['number']} of the {rule['kind']} {rule['name']} ({rule['id']})"
        screen.print_line(f"To be decided here: {of} was `never`, and is `when_untrusted`")
    return exits.DONE


def _verify(file: Path, pinned: Mapping[str, str], screen: Screen) -> Manifest:
    """Return the manifest of an archive that is whole and genuine. Raise `ArchiveError` at the first thing that is not."""
    size = max(file.stat().st_size // 1024, 1)
    with screen.show_progress("verifying"):
        count = lambda read: screen.show_count("KiB", read // 1024, size)  # noqa: E731 - it is used once
        for verdict in verify_archive(file, pinned, count=count, tell=screen.print_line):
            if verdict.code == verifier.WRONG:
                raise ArchiveError(f"execution {verdict.execution}", verdict.sentence)
        with file.open("rb") as archive:
            return read_archive(archive)


def _list_credentials(file: Path, workspace: str) -> Iterator[dict[str, Any]]:
    """Yield what is told of each credential of the archive's tasks, with the task's id here; a value is in none."""
    with file.open("rb") as archive:
        for name, data in iterate_files(archive):
            if name == MANIFEST or not name.startswith("tasks-"):
                continue
            for _, task in read_lines(name, data):
                place = {"task_id": derive_id(workspace, "task", task["id"]), "task": task["name"]}
                yield from ({**place, **_choose(label)} for label in task["credentials"])


def _list_rules(file: Path, workspace: str) -> Iterator[dict[str, Any]]:
    """Yield the rules of the archive that were imported as others, each with the id here of what has it."""
    with file.open("rb") as archive:
        for name, data in iterate_files(archive):
            kind = KINDS_WITH_RULES.get(name.partition("-")[0])
            for _, line in read_lines(name, data) if kind is not None else ():
                here = _derive_here(str(kind), line, workspace)
                yield from ({"kind": kind, "id": here, "name": line["name"], "number": rule} for rule in find_distrusted(line))


def _derive_here(kind: str, line: Mapping[str, Any], workspace: str) -> str:
    if kind == "workspace":
        return workspace
    is_default = bool(line.get("is_default"))
    return derive_default_agent(workspace) if is_default else derive_id(workspace, kind, line["id"])


def _choose(label: Mapping[str, Any]) -> dict[str, Any]:
    return {name: label[name] for name in ("name", "service", "auth_type", "hosts")}


def _select_imported(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind: count for kind, count in counts.items() if count and kind not in ("workspace", *NOT_IMPORTED)}
