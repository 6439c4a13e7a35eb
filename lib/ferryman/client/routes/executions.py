"""Executions, with their calls, receipts and records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ferryman.client import answers
from ferryman.client.request import PAGE_MAX, Answer, AnswerPage, ApiRequest, Json, build_path, get, post, read_as, read_page


def start_execution(
    task: str,
    text: str | None = None,
    *,
    conversation: str | None = None,
    labels: Mapping[str, str] | None = None,
    traceparent: str | None = None,
    key: str | None = None,
) -> ApiRequest[answers.ExecutionJson]:
    """Start an execution, which is queued, not awaited: with `text` as its input, `labels` of yours and as part of a trace.

    `conversation` is an id of your choice, for all executions of one conversation with the agent.
    """
    headers = {"traceparent": traceparent} if traceparent else None
    body = {
        **({} if text is None else {"input": text}),
        **({"conversation": conversation} if conversation else {}),
        **({"labels": dict(labels)} if labels else {}),
    }
    return post(build_path("tasks", task, "executions"), read_as(answers.ExecutionJson), body, key=key, headers=headers)


def start_call(
    task: str,
    tool: str,
    arguments: Mapping[str, Json] | None = None,
    *,
    traceparent: str | None = None,
    key: str | None = None,
) -> ApiRequest[answers.ExecutionJson]:
    """Start an execution that makes one call of a tool, with what the task allows, and asks no model; it is not awaited."""
    headers = {"traceparent": traceparent} if traceparent else None
    body = {"tool": tool, "arguments": dict(arguments or {})}
    return post(build_path("tasks", task, "calls"), read_as(answers.ExecutionJson), body, key=key, headers=headers)


def list_executions(
    *,
    task: str | None = None,
    status: str | None = None,
    since: datetime | str | None = None,
    waiting: bool = False,
    limit: int | None = None,
    cursor: str | None = None,
) -> ApiRequest[AnswerPage[answers.ListedExecutionJson]]:
    """Return a page of your executions, newest first: those of one task, in one status, created since a moment, or `waiting`
    for a person.

    What each was given, its output and its calls are in its own record.
    """
    path = build_path("executions") if task is None else build_path("tasks", task, "executions")
    moment = since.isoformat() if isinstance(since, datetime) else since
    return get(path, read_page("executions"), status=status, since=moment, waiting=waiting or None, limit=limit, cursor=cursor)


def get_execution(execution: str) -> ApiRequest[answers.ExecutionJson]:
    """Return one execution."""
    return get(build_path("executions", execution), read_as(answers.ExecutionJson))


def cancel_execution(execution: str) -> ApiRequest[answers.ExecutionJson]:
    """Cancel an execution: nothing further is sent, what is under way ends."""
    return post(build_path("executions", execution, "cancel"), read_as(answers.ExecutionJson))


def list_calls(
    execution: str, *, first: int | None = None, details: bool = True, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.ListedCallJson]]:
    """Return a page of the execution's calls from `first` on, in their order, with their results in full.

    Without `details` arguments, contents and parts are empty.
    """
    path = build_path("executions", execution, "calls")
    request: ApiRequest[AnswerPage[answers.ListedCallJson]] = get(
        path, read_page("calls"), details=None if details else "false", limit=limit, cursor=cursor
    )
    return _begin_at(request, first)


def list_turns(
    execution: str, *, first: int | None = None, details: bool = True, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.TurnJson]]:
    """Return a page of the execution's turns from the number `first` on, in their order; their contents are empty without
    `details`."""
    path = build_path("executions", execution, "turns")
    request: ApiRequest[AnswerPage[answers.TurnJson]] = get(
        path, read_page("turns"), details=None if details else "false", limit=limit, cursor=cursor
    )
    return _begin_at(request, first)


def get_call(execution: str, seq: int) -> ApiRequest[answers.ListedCallJson]:
    """Return one of the execution's calls by its number, from 0, with its result in full."""
    return get(build_path("executions", execution, "calls", str(seq)), read_as(answers.ListedCallJson))


def list_receipts(
    execution: str, *, first: int | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[Json]]:
    """Return a page of the execution's receipts from the number `first` on, in their order."""
    request: ApiRequest[AnswerPage[Json]] = get(
        build_path("executions", execution, "receipts"), read_page("entries"), limit=limit, cursor=cursor
    )
    return _begin_at(request, first)


def get_receipt_page(execution: str) -> ApiRequest[Json]:
    """Return the first receipts of the execution, with the public keys, as one document."""
    return get(build_path("executions", execution, "receipts"), read_as(Json), limit=PAGE_MAX)


def list_receipt_keys() -> ApiRequest[dict[str, str]]:
    """Return the public keys of receipts, by version, in hex."""
    return get(build_path("receipt-keys"), lambda document: dict(document["keys"]))


def get_record(execution: str) -> ApiRequest[Json]:
    """Return the full account of an execution."""
    return get(build_path("executions", execution, "record"), read_as(Json))


def _begin_at(request: ApiRequest[Answer], first: int | None) -> ApiRequest[Answer]:
    return request if first is None else request.with_query(**{"from": str(first)})
