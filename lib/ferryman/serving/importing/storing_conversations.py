"""Storing the conversations of an archive, and then their messages below them."""

from __future__ import annotations

import asyncio

from ferryman.composition.api import ApiDependencies
from ferryman.domain.problem import build_input_error
from ferryman.serving.importing.pieces import Piece
from ferryman.serving.importing.target import ArchiveTarget

READ_AT_ONCE = 20
"""Conversations that are looked for at once."""


async def store_conversations(deps: ApiDependencies, target: ArchiveTarget, piece: Piece) -> None:
    """Store what a file has of conversations. Raise `InvalidInputError` for a message of none, and `WorkspaceGoneError`."""
    read, place = piece.conversations, {"owner": target.owner, "workspace": target.workspace}
    places = {message.conversation: where for where, message in read.messages}
    names = sorted(places)
    for first in range(0, len(names), READ_AT_ONCE):
        some = names[first : first + READ_AT_ONCE]
        stored = await asyncio.gather(*(deps.conversations.get(name, **place) for name in some))
        for name, known in zip(some, stored, strict=True):
            if known is None:
                raise build_input_error("content", f"{places[name]}: conversation: is none of the archive's")
    if read.conversations or read.messages:
        await deps.archives.add_conversations(
            [conversation for _, conversation in read.conversations],
            [message for _, message in read.messages],
            **place,
            ended_at=target.began_at,
            retention_days=target.retention_days,
        )
