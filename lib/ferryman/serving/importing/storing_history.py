"""Storing the history of an archive: executions under their ids here, and those that span files checked as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ferryman.composition.api import ApiDependencies
from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.problem import build_input_error
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.records.record import Record
from ferryman.serving.importing.checking import build_record, check_spanning
from ferryman.serving.importing.pieces import Piece
from ferryman.serving.importing.target import ArchiveTarget
from ferryman.tools.declared.importing import run_document_worker

READ_AT_ONCE = 20
"""Executions that are looked for at once."""


async def store_history(deps: ApiDependencies, target: ArchiveTarget, piece: Piece) -> None:
    """Store the executions in a file, or the parts of them that it has. What is stored again stays as it is.

    Raise `InvalidInputError` for one that is in the archive twice, has expired meanwhile, or does not fit its receipts, and
    `WorkspaceGoneError`.
    """
    await _check_new(deps, piece)
    began, days = target.began_at, target.retention_days
    place = {"owner": target.owner, "workspace": target.workspace}
    await deps.archives.add_history(piece.history.pieces, **place, ended_at=began, retention_days=days)
    for name in piece.history.spanning:
        record, receipts, keys = await _read_record(deps, name)
        await run_document_worker(target.owner, "content", check_spanning, piece.file.name, record, receipts, keys)


async def _check_new(deps: ApiDependencies, piece: Piece) -> None:
    """Raise `InvalidInputError` for an execution that began in an earlier file, at another time.

    With the same time it was stored by an earlier attempt at this file: each is older than those of earlier files.
    """
    new = [read.execution for read in piece.history.pieces if read.execution is not None]
    for first in range(0, len(new), READ_AT_ONCE):
        read = new[first : first + READ_AT_ONCE]
        stored = await asyncio.gather(*(deps.executions.get(execution.id) for execution in read))
        for execution, known in zip(read, stored, strict=True):
            if known is not None and known.created_at != execution.created_at:
                name = execution.restore().id
                raise build_input_error("content", f"{piece.file.name}: execution {name}: is in the archive twice")


async def _read_record(deps: ApiDependencies, name: str) -> tuple[Record, Sequence[Receipt], Mapping[str, str]]:
    store = deps.executions
    execution = await store.get(name)
    if execution is None or execution.imported_from is None:
        raise build_input_error("content", "an execution that began in an earlier file has expired")
    parts = ExecutionParts(
        opening=await store.opening(name),
        steps=await store.steps(name),
        tickets=await store.tickets(name),
        entries=await deps.archives.list_entries(name),
    )
    return build_record(execution, parts), await store.receipts(name), execution.imported_from.keys
