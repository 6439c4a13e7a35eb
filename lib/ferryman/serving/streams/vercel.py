"""The UI message stream of Vercel's AI SDK, version 1: JSON objects with a `type`, and `[DONE]` at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.executions.execution import Execution, Status
from ferryman.serving.streams import moments
from ferryman.serving.streams.frame import encode
from ferryman.serving.streams.names import write_call_id
from ferryman.serving.streams.projection import Projection, describe_usage
from ferryman.serving.streams.questions import APPROVED, EDITED, AskedCall, is_denied
from ferryman.serving.streams.reports import ReportedCall, describe_report
from ferryman.serving.streams.results import name_call, read_outcome

DONE = "[DONE]"


class VercelProjection(Projection):
    """One assistant message, a step for each turn. A turn of which something is void is reset, and sent again (`reset-step`).

    The tools are dynamic ones that the provider executes: the client knows none of them, and calls none.
    """

    headers: ClassVar[Mapping[str, str]] = {"x-vercel-ai-ui-message-stream": "v1"}
    asks_first = True

    def project(self, moment: moments.Moment, watched: WatchedAnswer) -> tuple[str, str] | None:
        """Return the frame of a moment; calls that others asked for have none, as in the stored message."""
        if isinstance(moment, moments.StreamEnd):
            return "", DONE
        chunk = _project(moment, watched)
        return None if chunk is None else ("", encode(chunk))

    def project_question(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str]:
        """Return the chunk that asks for an approval, which no answer of the client gives: the API is told what was decided."""
        call = write_call_id(watched.execution.id, question.iteration, question.call)
        return "", encode({"type": "tool-approval-request", "approvalId": question.ticket.approval, "toolCallId": call})

    def project_verdict(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str] | None:  # noqa: ARG002 - as the others
        """Return the chunk of what came of it; after an edit the approval of the new call follows in its place."""
        if question.verdict == EDITED:
            return None
        chunk = {"type": "tool-approval-response", "approvalId": question.ticket.approval}
        if question.verdict == APPROVED:
            return "", encode({**chunk, "approved": True})
        return "", encode({**chunk, "approved": False, "reason": _explain_refusal(question)})

    def project_report(self, report: ReportedCall, watched: WatchedAnswer) -> tuple[str, str]:
        """Return the chunk of how far a call under way is: of the moment, and no part of the message."""
        call = write_call_id(watched.execution.id, report.iteration, report.call)
        data = {"toolCallId": call, "toolName": name_call(report.ticket), **describe_report(report)}
        return "", encode({"type": "data-tool-progress", "data": data, "transient": True})


def _explain_refusal(question: AskedCall) -> str:
    return read_outcome(question.ticket).error or f"it was {question.verdict}"


def _project(moment: moments.Moment, watched: WatchedAnswer) -> dict[str, Any] | None:
    execution = watched.execution
    match moment:
        case moments.AnswerStart():
            return {"type": "start", "messageId": execution.id, "messageMetadata": _describe(execution)}
        case moments.StepStart():
            return {"type": "start-step"}
        case moments.BlockStart() | moments.BlockGrowth() | moments.BlockEnd():
            return _project_block(moment, execution)
        case moments.Replacement():
            return {"type": "reset-step"}
        case moments.CallNotice(iteration=iteration, call=call, ticket=ticket):
            about = _name_tool(execution, iteration, call, name_call(ticket))
            return {"type": "tool-input-available", **about, "input": dict(ticket.display_arguments)}
        case moments.CallEnd(iteration=iteration, call=int(call), ticket=ticket):
            outcome = read_outcome(ticket)
            about = {"toolCallId": write_call_id(execution.id, iteration, call), "dynamic": True, "providerExecuted": True}
            if is_denied(ticket):
                return {"type": "tool-output-denied", "toolCallId": about["toolCallId"]}
            if outcome.error is not None:
                return {"type": "tool-output-error", **about, "errorText": outcome.error}
            return {"type": "tool-output-available", **about, "output": outcome.value}
        case moments.StepEnd():
            return {"type": "finish-step"}
        case moments.AnswerFailure() if execution.status is not Status.KILLED:
            return {"type": "error", "errorText": execution.error}
        case moments.AnswerEnd():
            return _build_end(watched)
    return None


def _project_block(moment: moments.BlockMoment, execution: Execution) -> dict[str, Any] | None:
    iteration, call = moment.iteration, moment.call
    if call is None:
        name = f"{iteration}.{moment.index}"
        match moment:
            case moments.BlockStart():
                return {"type": "text-start", "id": name}
            case moments.BlockGrowth(delta=delta):
                return {"type": "text-delta", "id": name, "delta": delta}
        return {"type": "text-end", "id": name}
    match moment:
        case moments.BlockStart(block=block):
            return {"type": "tool-input-start", **_name_tool(execution, iteration, call, block.name)}
        case moments.BlockGrowth(delta=delta):
            return {
                "type": "tool-input-delta",
                "toolCallId": write_call_id(execution.id, iteration, call),
                "inputTextDelta": delta,
            }
    return None  # what ends it is the whole input


def _build_end(watched: WatchedAnswer) -> dict[str, Any]:
    execution = watched.execution
    if execution.status is Status.KILLED:
        return {"type": "abort", "reason": execution.error or "it was stopped"}
    spent = {"usage": describe_usage(watched), "credits": format_credits(execution.credits_used)}
    reason = "stop" if execution.status is Status.COMPLETED else "error"
    return {"type": "finish", "finishReason": reason, "messageMetadata": {**_describe(execution), **spent}}


def _describe(execution: Execution) -> dict[str, Any]:
    about: dict[str, Any] = {"executionId": execution.id}
    if execution.answer:
        about |= {"conversationId": execution.conversation, "messageId": execution.answer}
    return about


def _name_tool(execution: Execution, iteration: int, call: int, name: str) -> dict[str, Any]:
    named = {"toolCallId": write_call_id(execution.id, iteration, call), "toolName": name}
    return {**named, "dynamic": True, "providerExecuted": True}
