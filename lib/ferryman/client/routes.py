"""The routes of the API: what each method of the clients asks for, and how the answer is read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, Json, build_path, get, post, read_as, read_none, read_page

PAGE_MAX = 100
"""What the service answers at most at once."""

IMPORT_S = 150.0
"""Documents of many megabytes are read, and what they refer to is fetched."""


def create_task(task: Mapping[str, Any], *, key: str | None = None) -> ApiRequest[answers.TaskJson]:
    """Store a new task; `key` is an idempotency key of yours, for retries over several runs of a program."""
    return post(build_path("tasks"), read_as(answers.TaskJson), task, key=key)


def list_tasks(
    *, enabled: bool | None = None, name: str | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.ListedTaskJson]]:
    """Return a page of your tasks, oldest first, without their prompts: those that are enabled or not, or of one name."""
    chosen = None if enabled is None else str(enabled).lower()
    return get(build_path("tasks"), read_page("tasks"), enabled=chosen, name=name, limit=limit, cursor=cursor)


def get_task(task: str) -> ApiRequest[answers.TaskJson]:
    """Return one task."""
    return get(build_path("tasks", task), read_as(answers.TaskJson))


def change_task(task: str, change: Mapping[str, Any]) -> ApiRequest[answers.TaskJson]:
    """Change some fields of a task."""
    return ApiRequest(method="PATCH", path=build_path("tasks", task), read=read_as(answers.TaskJson), body=change)


def delete_task(task: str) -> ApiRequest[None]:
    """Delete a task and its credentials."""
    return _delete(build_path("tasks", task))


def set_credential(task: str, name: str, credential: Mapping[str, Any]) -> ApiRequest[answers.CredentialJson]:
    """Seal a credential of a task, or replace it: its `value`, and the `service` that it is for."""
    path = build_path("tasks", task, "credentials", name)
    return ApiRequest(method="PUT", path=path, read=read_as(answers.CredentialJson), body=credential)


def begin_connection(task: str, body: Mapping[str, Any]) -> ApiRequest[answers.ConnectionJson]:
    """Begin to connect a service: where its owner consents, and the state that leads back."""
    return post(build_path("tasks", task, "credentials", "connect"), read_as(answers.ConnectionJson), body)


def finish_connection(task: str, state: str, code: str, iss: str | None = None) -> ApiRequest[answers.CredentialJson]:
    """Return the credential that a consent has brought. `iss` is the issuer that the authorization response named, if any."""
    body = {"state": state, "code": code, **({} if iss is None else {"iss": iss})}
    return post(build_path("tasks", task, "credentials", "connect", "finish"), read_as(answers.CredentialJson), body)


def list_credentials(
    task: str, *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.CredentialJson]]:
    """Return a page of a task's credentials by name, without their values."""
    return get(build_path("tasks", task, "credentials"), read_page("credentials"), limit=limit, cursor=cursor)


def delete_credential(task: str, name: str) -> ApiRequest[None]:
    """Delete a credential of a task."""
    return _delete(build_path("tasks", task, "credentials", name))


def start_execution(
    task: str,
    text: str | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    traceparent: str | None = None,
    key: str | None = None,
) -> ApiRequest[answers.ExecutionJson]:
    """Start an execution, with `text` as its input, `labels` of yours and as part of a trace; it is queued, not awaited."""
    headers = {"traceparent": traceparent} if traceparent else None
    body = {**({} if text is None else {"input": text}), **({"labels": dict(labels)} if labels else {})}
    return post(build_path("tasks", task, "executions"), read_as(answers.ExecutionJson), body, key=key, headers=headers)


def list_executions(
    *,
    task: str | None = None,
    status: str | None = None,
    since: datetime | str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> ApiRequest[AnswerPage[answers.ListedExecutionJson]]:
    """Return a page of your executions, newest first: those of one task, in one status, or created since a moment.

    What each was given, its output and its calls are in its own record.
    """
    path = build_path("executions") if task is None else build_path("tasks", task, "executions")
    moment = since.isoformat() if isinstance(since, datetime) else since
    return get(path, read_page("executions"), status=status, since=moment, limit=limit, cursor=cursor)


def get_execution(execution: str) -> ApiRequest[answers.ExecutionJson]:
    """Return one execution."""
    return get(build_path("executions", execution), read_as(answers.ExecutionJson))


def list_calls(
    execution: str, *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.CallJson]]:
    """Return a page of the execution's calls, in their order, with their results in full."""
    return get(build_path("executions", execution, "calls"), read_page("calls"), limit=limit, cursor=cursor)


def list_receipts(execution: str, *, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[Json]]:
    """Return a page of the execution's receipts, in their order."""
    return get(build_path("executions", execution, "receipts"), read_page("entries"), limit=limit, cursor=cursor)


def get_receipt_page(execution: str) -> ApiRequest[Json]:
    """Return the first receipts of the execution, with the public keys, as one document."""
    return get(build_path("executions", execution, "receipts"), read_as(Json), limit=PAGE_MAX)


def list_receipt_keys() -> ApiRequest[dict[str, str]]:
    """Return the public keys of receipts, by version, in hex."""
    return get(build_path("receipt-keys"), lambda document: dict(document["keys"]))


def get_record(execution: str) -> ApiRequest[Json]:
    """Return the full account of an execution."""
    return get(build_path("executions", execution, "record"), read_as(Json))


def cancel_execution(execution: str) -> ApiRequest[answers.ExecutionJson]:
    """Cancel an execution: nothing further is sent, what is under way ends."""
    return post(build_path("executions", execution, "cancel"), read_as(answers.ExecutionJson))


def list_integrations(
    *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.IntegrationJson]]:
    """Return a page of the services that a task may be approved for."""
    return get(build_path("integrations"), read_page("integrations"), limit=limit, cursor=cursor)


def list_tools(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.ToolJson]]:
    """Return a page of the tools that any task may enable."""
    return get(build_path("tools"), read_page("tools"), limit=limit, cursor=cursor)


def list_agents(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.AgentJson]]:
    """Return a page of the agents of the catalog, each with the tools that it may call."""
    return get(build_path("agents"), read_page("agents"), limit=limit, cursor=cursor)


def list_custom_tools(
    task: str, *, query: str | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.CustomToolJson]]:
    """Return a page of the tools that the task's owner declared or imported, by cluster and name.

    With a `query`, what a tool is to do or its name, the answer is one page of the tools that fit, the best first.
    """
    return get(build_path("tasks", task, "tools"), read_page("data"), query=query, limit=limit, cursor=cursor)


def import_tools(task: str, body: Mapping[str, Any]) -> ApiRequest[answers.ImportJson]:
    """Import an OpenAPI document. Return its tools under `data`, how many are disabled, tokens and notes."""
    path = build_path("tasks", task, "tools", "import-openapi")
    return post(path, read_as(answers.ImportJson), body, within_s=IMPORT_S)


def delete_tool(task: str, name: str) -> ApiRequest[None]:
    """Delete one of a task's own tools."""
    return _delete(build_path("tasks", task, "tools"), id=name)


def delete_cluster(task: str, cluster: str) -> ApiRequest[None]:
    """Delete a cluster with all its tools."""
    return _delete(build_path("tasks", task, "tools", "cluster", cluster))


def list_plans(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.PlanJson]]:
    """Return a page of the plans and their limits."""
    return get(build_path("plans"), read_page("plans"), limit=limit, cursor=cursor)


def list_models(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.ModelJson]]:
    """Return a page of the models that a task may name, and their prices."""
    return get(build_path("models"), read_page("models"), limit=limit, cursor=cursor)


def set_halt(*, on: bool) -> ApiRequest[answers.HaltJson]:
    """Set the owner's kill switch; return what stops their executions."""
    return ApiRequest(method="PUT" if on else "DELETE", path=build_path("halt"), read=read_as(answers.HaltJson))


def get_ledger(*, month: str | None = None) -> ApiRequest[answers.StatementJson]:
    """Return a month's statement; without a month, this one's."""
    return get(build_path("ledger"), read_as(answers.StatementJson), month=month or None)


def get_me() -> ApiRequest[answers.MeJson]:
    """Return the owner of the API key, with their plan and balance."""
    return get(build_path("me"), read_as(answers.MeJson))


def _delete(path: str, **query: str) -> ApiRequest[None]:
    return ApiRequest(method="DELETE", path=path, read=read_none, query=query)
