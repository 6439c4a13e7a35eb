"""Results of others' content, framed after their scan: what parsed that content cannot write the frame (prompt injection)."""

from __future__ import annotations

import secrets

from ferryman import offload
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.part import Part
from ferryman.domain.calls.refusal import ERROR
from ferryman.domain.http.status import describe_failure, is_error
from ferryman.framing.windows import CHARACTERS_READ

INLINE_CHARACTERS_MAX = 2_000
"""Texts up to this length are framed in this process, in some milliseconds at most; others in a worker process."""


def strip_content(content: str) -> str:
    """Return `content` as it is scanned: without what nobody sees, which could hide half of a credential."""
    from ferryman.framing.frame import remove_invisible  # with all scripts' letters: only calls of a network need them

    return remove_invisible(content[:CHARACTERS_READ])


async def remove_unseen(owner: str, text: str) -> str:
    """Return what follows such a content without what nobody sees. Raise as `offload.run` does."""
    from ferryman.framing.frame import remove_invisible

    if len(text) <= INLINE_CHARACTERS_MAX:
        return remove_invisible(text)
    return await offload.run(owner, offload.TEXT, remove_invisible, text)


async def frame_answer(owner: str, text: str, answer: KeylessAnswer, *, code: str | None, most: int) -> tuple[str, Part]:
    """Return what the model reads of an answer whose content was scanned, `text`, and which part of it that is.

    A failure is told in a line before the frame. Raise `offload.OverBudgetError` or `UnavailableError`.
    """
    from ferryman.framing.body import frame_scanned

    line = ""
    if code is not None:
        status = answer.response_status
        line = f"{describe_failure(status) if status and is_error(status) else f'{ERROR}{code}'}\n"
    status_of = "" if answer.response_status is None else f' status="{answer.response_status}"'
    cut = answer.truncated or len(answer.content) > CHARACTERS_READ
    arguments = text, secrets.token_hex(8), line, status_of, cut, answer.truncated, most
    if len(text) <= INLINE_CHARACTERS_MAX:
        framed = frame_scanned(*arguments)
    else:
        framed = await offload.run(owner, offload.TEXT, frame_scanned, *arguments)
    return framed.content, framed.part
