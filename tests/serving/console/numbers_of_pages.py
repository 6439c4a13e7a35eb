"""The numbers that each page promises to show, by the page's path, and those that it computes itself.

A promise is the path of the API's answer (`*` for an id), and the names of the fields that lead to the number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX
from ferryman.domain.tasks.task import DESCRIPTION_CHARACTERS_MAX, PROMPT_CHARACTERS_MAX
from ferryman.domain.workspaces.api_key import KEY_DAYS_MAX
from ferryman.domain.workspaces.rules import RETENTION_DAYS_MAX

Answers = Sequence[tuple[str, str, Any]]

PROMISED: dict[str, tuple[str, ...]] = {
    "/console": (
        "/v1/executions executions credits_used",
        "/v1/me credits_left",
        "/v1/me credits_used",
        "/v1/usage total calls",
        "/v1/usage total credits",
        "/v1/usage total turns",
    ),
    "/console/agents": (),
    "/console/agents/new": (),
    "/console/agents/{agent}": (),
    "/console/agents/{agent}/servers": (
        "/v1/agents/*/mcp servers tools accepted",
        "/v1/agents/*/mcp servers tools refused",
    ),
    "/console/agents/{agent}/servers/{server}": (
        "/v1/agents/*/mcp/* tools accepted",
        "/v1/agents/*/mcp/* tools changed",
        "/v1/agents/*/mcp/* tools disabled",
        "/v1/agents/*/mcp/* tools gone",
        "/v1/agents/*/mcp/* tools new",
        "/v1/agents/*/mcp/* tools refused",
        "/v1/agents/*/mcp/*/tools data tokens",
    ),
    "/console/agents/{agent}/servers/{server}/connect": (),
    "/console/approvals": (),
    "/console/approvals/{approval_id}": (),
    "/console/conversations": (),
    "/console/conversations/{conversation_id}": ("/v1/conversations/*/messages messages metadata credits_used",),
    "/console/conversations/{conversation_id}/messages/{number}": (),
    "/console/executions": ("/v1/executions executions credits_used", "/v1/executions executions tool_calls_total"),
    "/console/executions/{execution}": (
        "/v1/executions/* credits_held",
        "/v1/executions/* credits_used",
        "/v1/executions/* iterations",
        "/v1/executions/* tool_calls_total",
        "/v1/executions/* usage input_tokens",
        "/v1/executions/* usage output_tokens",
        "/v1/executions/*/calls calls credits",
        "/v1/executions/*/calls calls result latency_ms",
        "/v1/executions/*/turns turns credits",
        "/v1/executions/*/turns turns usage input_tokens",
        "/v1/executions/*/turns turns usage output_tokens",
    ),
    "/console/executions/{execution}/audit": ("/v1/executions/* credits_used",),
    "/console/executions/{execution}/calls/{seq}": (
        "/v1/executions/*/calls/* attempt",
        "/v1/executions/*/calls/* result latency_ms",
        "/v1/executions/*/calls/* result response_size_bytes",
        "/v1/executions/*/calls/* result response_status",
    ),
    "/console/executions/{execution}/input": (),
    "/console/executions/{execution}/output": (),
    "/console/executions/{execution}/turns/{turn}": (
        "/v1/executions/*/turns turns credits",
        "/v1/executions/*/turns turns usage input_tokens",
        "/v1/executions/*/turns turns usage output_tokens",
    ),
    "/console/files": ("/v1/files files size_bytes", "/v1/files limit_bytes", "/v1/files used_bytes"),
    "/console/files/{file:path}": ("/v1/files files size_bytes",),
    "/console/halt": (),
    "/console/ledger": (
        "/v1/budget budgets credits_left",
        "/v1/budget budgets credits_reserved",
        "/v1/budget budgets credits_used",
        "/v1/budget budgets limit",
        "/v1/budget budgets percent_used",
        "/v1/ledger credits",
        "/v1/ledger entries",
        "/v1/ledger lines api_call_fees",
        "/v1/ledger lines credits",
        "/v1/ledger lines embedding",
        "/v1/ledger lines executions",
        "/v1/ledger lines llm_tokens",
        "/v1/ledger lines storage_bytes",
        "/v1/ledger sum_of_postings",
    ),
    "/console/jobs": (),
    "/console/jobs/{job}": (),
    "/console/people": (),
    "/console/people/{person}": (),
    "/console/sessions": (),
    "/console/start": (),
    "/console/system": (
        "/v1/models models input_usd_per_million",
        "/v1/models models output_usd_per_million",
        "/v1/plans plans calls_per_execution",
        "/v1/plans plans calls_per_minute",
        "/v1/plans plans credits_per_execution",
        "/v1/plans plans credits_per_month",
        "/v1/plans plans executions_queued",
        "/v1/plans plans executions_running",
        "/v1/plans plans file_bytes",
        "/v1/plans plans iterations",
        "/v1/plans plans response_bytes",
        "/v1/plans plans schedule_minutes",
        "/v1/plans plans streams",
    ),
    "/console/tasks": ("/v1/tasks tasks max_credits",),
    "/console/tasks/new": (),
    "/console/tasks/{task}": (
        "/v1/tasks/* max_credits",
        "/v1/tasks/* max_iterations",
        "/v1/tasks/* max_tokens",
        "/v1/tasks/* temperature",
    ),
    "/console/tasks/{task}/credentials": (),
    "/console/tasks/{task}/import": (),
    "/console/tasks/{task}/tools": ("/v1/tasks/*/tools clusters disabled", "/v1/tasks/*/tools clusters tools"),
    "/console/tasks/{task}/tools/{tool:path}": (),
    "/console/tasks/{task}/tries/{execution}": (
        "/v1/executions/* credits_used",
        "/v1/executions/*/calls calls result latency_ms",
        "/v1/executions/*/calls calls result response_size_bytes",
        "/v1/executions/*/calls calls result response_status",
    ),
    "/console/tools": ("/v1/integrations tools policy fee",),
    "/console/tasks/{task}/credentials/connect": (),
    "/console/workspaces": (),
    "/console/workspaces/{workspace}": (),
}


def find_bodies(answers: Answers, path: str, query: str = "") -> list[Any]:
    """Return the answers at a path whose query has these words."""
    return [body for api_path, words, body in answers if api_path == path and query in words]


def count_overview(answers: Answers) -> list[object]:
    """Return how many run, wait and failed, and 0 for a day without usage."""
    running = find_bodies(answers, "/v1/executions", "status=running")[0]["executions"]
    failed = [
        item
        for status in ("failed", "timeout")
        for body in find_bodies(answers, "/v1/executions", status)
        for item in body["executions"]
    ]
    waiting = find_bodies(answers, "/v1/approvals")[0]["approvals"]
    return [len(running), len(waiting), len(failed), 0]


def measure_execution(answers: Answers) -> list[object]:
    """Return how long the execution took, in milliseconds."""
    execution = next(body for _, _, body in answers if "started_at" in body)
    began, ended = (datetime.fromisoformat(execution[name]) for name in ("started_at", "completed_at"))
    return [(ended - began).total_seconds() * 1000]


def count_items(*names: str) -> Callable[[Answers], list[object]]:
    """Return the function that counts the items of every list of this name, anywhere in an answer."""

    def count(answers: Answers) -> list[object]:
        return [len(items) for _, _, body in answers for items in find_lists(body, names)]

    return count


def find_lists(value: Any, names: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the lists of an answer that are in fields of these names."""
    for name, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if name in names and isinstance(item, list):
            yield item
        yield from find_lists(item, names)


def count_agent(answers: Answers) -> list[object]:
    """Return how many servers an agent has, how many tools of its policy are not implemented, and the limits of its texts."""
    rows = [row for body in find_bodies(answers, "/v1/agents/agent_ann/policy") for row in body["tools"]]
    missing = sum(row["taken_by"] == ["catalog"] for row in rows)
    return [*count_items("servers")(answers), missing, *list_field_limits(answers)]


def count_waiting_tools(answers: Answers) -> list[object]:
    """Return how many tools of each server wait for a person."""
    servers = [server for _, _, body in answers for server in body.get("servers", ())]
    return [server["tools"]["new"] + server["tools"]["changed"] for server in servers]


def list_field_limits(_: Answers) -> list[object]:
    """Return the limits that forms name beside their fields."""
    texts = [DESCRIPTION_CHARACTERS_MAX, INPUT_CHARACTERS_MAX, PROMPT_CHARACTERS_MAX]
    return [*texts, KEY_DAYS_MAX, RETENTION_DAYS_MAX]


def measure_message(answers: Answers) -> list[object]:
    """Return how many characters the message has."""
    return [len(message["content"]) for _, _, body in answers for message in body["messages"]]


DERIVED: dict[str, Callable[[Answers], list[object]]] = {
    "/console": count_overview,
    "/console/agents": count_items("allowed_tools"),
    "/console/agents/new": count_items("allowed_tools"),
    "/console/agents/{agent}": count_agent,
    "/console/agents/{agent}/servers": count_waiting_tools,
    "/console/conversations/{conversation_id}/messages/{number}": measure_message,
    "/console/executions/{execution}": measure_execution,
    "/console/people": list_field_limits,
    "/console/tasks": count_items("tools"),
    "/console/tasks/new": list_field_limits,
    "/console/tasks/{task}": list_field_limits,
    "/console/workspaces/{workspace}": list_field_limits,
}
