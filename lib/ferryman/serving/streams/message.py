"""The default format of chats: JSON objects with a `type`, all under `event: message` (S3-29 … S3-34)."""

from __future__ import annotations

from typing import Any

from ferryman.domain.conversations.asking import STATES
from ferryman.domain.conversations.message import AnswerState
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.executions.execution import Step
from ferryman.serving.streams import moments
from ferryman.serving.streams.frame import encode
from ferryman.serving.streams.projection import Projection, describe_usage
from ferryman.serving.streams.questions import AskedCall
from ferryman.serving.streams.reports import ReportedCall, describe_report
from ferryman.serving.streams.results import name_call, read_outcome


class MessageProjection(Projection):
    """`start`, then for each turn `thinking`, `content`, `tool_call_delta`, `usage`, `tool_call` and `tool_result`; at the end
    `done`, or `error`.

    `replace` voids what was sent of its turn. `approval_required` tells that a call waits for a person, and `approval_decided`
    what came of it, `tool_progress` how far a call under way is: they have no id.
    """

    def project(self, moment: moments.Moment, watched: WatchedAnswer) -> tuple[str, str] | None:
        """Return the frame of a moment; calls that others asked for have none, as in the stored message."""
        body = _project(moment, watched)
        return None if body is None else ("message", encode(body))

    def project_question(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str]:  # noqa: ARG002 - as the others
        """Return the message that a call waits for a person."""
        return "message", encode({"type": "approval_required", **_describe_asked(question)})

    def project_verdict(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str]:  # noqa: ARG002 - as the others
        """Return the message of what came of it."""
        return "message", encode({"type": "approval_decided", **_describe_asked(question), "verdict": question.verdict})

    def project_report(self, report: ReportedCall, watched: WatchedAnswer) -> tuple[str, str]:  # noqa: ARG002 - as the others
        """Return the message of how far a call under way is."""
        about = {"type": "tool_progress", "toolCallId": report.requested.call, "name": name_call(report.ticket)}
        return "message", encode({**about, **describe_report(report)})


def _describe_asked(question: AskedCall) -> dict[str, Any]:
    ticket = question.ticket
    about = {"approvalId": ticket.approval, "toolCallId": question.requested.call, "name": name_call(ticket)}
    return {**about, "digest": ticket.form_digest}


def _project(moment: moments.Moment, watched: WatchedAnswer) -> dict[str, Any] | None:
    match moment:
        case moments.AnswerWait():
            return _build_start(watched)
        case moments.Thinking(iteration=iteration):
            return {"type": "thinking", "iteration": iteration}
        case moments.BlockGrowth(call=None):
            content = f"\n{moment.delta}" if moment.starts_line else moment.delta
            return {"type": "content", "iteration": moment.iteration, "content": content}
        case moments.BlockStart(is_stored=False, block=block) if block.call:
            return {"type": "tool_call_delta", "id": block.call, "name": block.name, "arguments": ""}
        case moments.BlockGrowth(is_stored=False, block=block, delta=delta):
            return {"type": "tool_call_delta", "id": block.call, "name": block.name, "arguments": delta}
        case moments.Replacement(iteration=iteration):
            return {"type": "replace", "iteration": iteration}
        case moments.TurnEnd(step=step):
            return _build_usage(step)
        case moments.CallNotice(ticket=ticket):
            arguments = dict(ticket.display_arguments)
            return {"type": "tool_call", "id": ticket.call, "name": name_call(ticket), "arguments": arguments}
        case moments.CallEnd(call=int()):
            return _build_result(moment)
        case moments.AnswerEnd():
            return _build_end(watched)
    return None


def _build_start(watched: WatchedAnswer) -> dict[str, Any]:
    execution = watched.execution
    body: dict[str, Any] = {"type": "start", "executionId": execution.id}
    if execution.answer:
        body |= {"conversationId": execution.conversation, "messageId": execution.answer}
    return body


def _build_usage(step: Step) -> dict[str, Any]:
    usage = step.usage
    whole = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    tokens = {"inputTokens": whole, "outputTokens": usage.output_tokens, "cachedInputTokens": usage.cache_read_tokens}
    return {"type": "usage", "iteration": step.number, **tokens, "credits": format_credits(step.credits)}


def _build_result(moment: moments.CallEnd) -> dict[str, Any]:
    ticket, outcome = moment.ticket, read_outcome(moment.ticket)
    body = {"type": "tool_result", "toolCallId": ticket.call, "name": name_call(ticket), "success": outcome.error is None}
    if outcome.error is not None:
        return {**body, "error": outcome.error}
    return {**body, "result": outcome.value, "resultPreview": outcome.preview}


def _build_end(watched: WatchedAnswer) -> dict[str, Any]:
    execution = watched.execution
    state = STATES.get(execution.status, AnswerState.FAILED)
    spent = {"usage": describe_usage(watched), "credits": format_credits(execution.credits_used)}
    if state is AnswerState.FAILED:
        return {"type": "error", "error": execution.error or execution.status.value, **spent}
    return {"type": "done", "state": state.value, "content": execution.output or "", **spent}
