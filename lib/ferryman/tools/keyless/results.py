"""Results of functions without keys, as they are stored: built of answers that were scanned, and of refusals."""

from __future__ import annotations

from ferryman import offload
from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import TRUNCATED, Ticket, ToolCallResult, limit_result, truncate_names
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.calls.suggestion import FUNCTION_FAILED, SUGGESTIONS, find_suggestion
from ferryman.domain.http.status import get_code
from ferryman.ports.errors import RejectedError
from ferryman.tools.keyless.framing import frame_answer


async def build_result(ticket: Ticket, owner: str, answer: KeylessAnswer, scanned: KeylessAnswer) -> ToolCallResult:
    """Return the result that the scanned answer is, framed where it is content of others, and cut to what its tool may say.

    Raise `UnavailableError`, and `RejectedError` where it cannot be framed.
    """
    policy, text = find_tool(ticket.tool).policy, scanned.content
    most = limit_result(policy)
    code = _read_code(answer)
    parts: tuple[Part, ...] = ()
    if policy.wrapped:
        try:
            text, part = await frame_answer(owner, text, answer, code=code, most=most)
        except (offload.OverBudgetError, offload.JobFailedError) as error:
            raise RejectedError(str(error)) from None
        parts = (part,)
    elif len(text) > most:
        text = text[:most] + TRUNCATED
    elif answer.is_json:
        parts = (Part(kind=PartKind.JSON, start=0, end=len(text)),)
    size = len(answer.content.encode()) if answer.response_size_bytes is None else answer.response_size_bytes
    return truncate_names(
        ToolCallResult(
            tool=ticket.tool,
            content=text,
            url=scanned.url,
            method=answer.method,
            response_status=answer.response_status,
            response_size_bytes=size,
            ok=code is None,
            code=code,
            suggestion=None if code is None else find_suggestion(code, answer.response_status),
            parts=parts,
            model_use=answer.model_use,
        )
    )


def build_refusal(ticket: Ticket, reason: Refusal) -> ToolCallResult:
    """Return the result of a call that was refused, or whose answer is none, with the URL that it was about."""
    url = ticket.display_arguments.get("url")
    named = ToolCallResult.from_refusal(ticket.tool, reason, url=url if isinstance(url, str) else None)
    return truncate_names(named)


def _read_code(answer: KeylessAnswer) -> str | None:
    """Return the code of a failure, which is not scanned: it is one of ours, or that of the status."""
    of_status = None if answer.response_status is None else get_code(answer.response_status)
    return answer.code if answer.code in (None, of_status, *SUGGESTIONS) else FUNCTION_FAILED
