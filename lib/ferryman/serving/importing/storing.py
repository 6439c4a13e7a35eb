"""Importing: the files of an archive become a workspace, one after the other, each in steps that may be repeated.

What a file makes is stored first, and then, in one commit with the workspace, that it is stored. Whatever dies in between, the
same file is sent again: its things have the same ids, and nothing is there twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ferryman.composition.api import ApiDependencies
from ferryman.domain.changes import change_value
from ferryman.domain.problem import build_input_error
from ferryman.domain.workspaces.imports import ArchiveImport
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceGoneError, WorkspaceState
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes.imports import CredentialToEnter, RuleToDecide
from ferryman.serving.importing.pieces import Piece, read_piece
from ferryman.serving.importing.storing_conversations import store_conversations
from ferryman.serving.importing.storing_definitions import DefinitionsImport
from ferryman.serving.importing.storing_files import FilesImport, release_writes
from ferryman.serving.importing.storing_history import store_history
from ferryman.serving.importing.target import ArchiveTarget
from ferryman.tools.declared.importing import run_document_worker


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """The workspace after a file was stored, the credentials that have to be entered again for the tasks in it, and the rules
    in it by which nobody would be asked."""

    workspace: Workspace
    credentials: tuple[CredentialToEnter, ...] = ()
    rules: tuple[RuleToDecide, ...] = ()


async def store_file(
    deps: ApiDependencies, caller: Caller, workspace: Workspace, run: ArchiveImport, number: int, body: bytes
) -> StoredFile:
    """Store the file `number` of an import, which `body` has as a request.

    Raise `InvalidInputError` with file, line and field, `StaleError` where another file is the next, `LimitReachedError`, and
    `WorkspaceGoneError` where the workspace is deleted meanwhile: nothing is stored in it any more.
    """
    caller, is_next = replace(caller, workspace=workspace.id), run.awaits(number)
    target = ArchiveTarget(
        owner=workspace.owner,
        workspace=workspace.id,
        retention_days=workspace.retention_days,
        began_at=workspace.created_at,
        run=run,
    )
    piece = await run_document_worker(target.owner, "content", read_piece, body, target, number, deps.neutralize)
    if not is_next:
        run.check_repeated(piece.file.name, piece.file.sha256)
        await _release_writes(deps, workspace.id, run)
        return _describe(workspace, piece, target)
    run = replace(run, default_agent=_find_default_agent(piece, run.default_agent))
    target = replace(target, run=run)
    after = run.advance(
        piece.file.name,
        piece.file.sha256,
        piece.count,
        run=piece.history.run,
        oldest=piece.history.oldest,
        file=piece.files.file,
        stored_bytes=piece.files.size_bytes,
    )
    definitions = DefinitionsImport(deps, caller, target)
    changes = definitions.check_settings(piece, workspace)
    await definitions.store(piece)
    await FilesImport(deps, caller, target, number).store(piece.files)
    await store_conversations(deps, target, piece)
    await store_history(deps, target, piece)
    changes |= {"imported": after, "state": WorkspaceState.ACTIVE if after.is_whole else WorkspaceState.IMPORTING}
    changed = change_value(workspace, changes, now=deps.clock.now())
    if not await deps.workspaces.update(changed, tuple(changes), since=workspace.updated_at):
        raise WorkspaceGoneError
    await _release_writes(deps, workspace.id, after)
    return _describe(changed, piece, target)


def _describe(workspace: Workspace, piece: Piece, target: ArchiveTarget) -> StoredFile:
    credentials, rules = tuple(_list_credentials(piece, target)), tuple(_list_rules(piece, target))
    return StoredFile(workspace=workspace, credentials=credentials, rules=rules)


async def _release_writes(deps: ApiDependencies, workspace: str, run: ArchiveImport) -> None:
    """Release the writes of files that are noted as stored.

    Those of the archive's last file stay for a day, settled: no later file could give back what a late delivery reserves again.
    """
    if run.file is not None and not run.is_whole:
        await release_writes(deps, workspace, run.following - 1)


def _find_default_agent(piece: Piece, before: str) -> str:
    """Return the id that the default agent has in the archive, "" while no file has named it; `before` is of earlier files.

    Raise `InvalidInputError` where there is more than one.
    """
    named = [agent.id for _, agent, is_default in piece.agents if is_default]
    if len(named) > 1 or (named and before):
        raise build_input_error("content", f"{piece.file.name}: is_default: there is more than one default agent")
    return named[0] if named else before


def _list_credentials(piece: Piece, target: ArchiveTarget) -> Iterator[CredentialToEnter]:
    for _, read in piece.tasks:
        for label in read.credentials:
            fields = {name: label[name] for name in ("name", "service", "auth_type", "hosts")}
            yield CredentialToEnter(task_id=target.derive("task", read.task.id), task=read.task.name, **fields)


def _list_rules(piece: Piece, target: ArchiveTarget) -> Iterator[RuleToDecide]:
    for kind, archived, name, number in piece.rules:
        names = {"workspace": target.workspace, "agent": target.derive_agent(archived), "task": target.derive("task", archived)}
        yield RuleToDecide(kind=kind, id=names[kind], name=name, number=number)
