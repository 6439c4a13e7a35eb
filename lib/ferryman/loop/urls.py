"""The URLs that an execution has seen, as its journal tells it: what its calls of any public page may fetch."""

from __future__ import annotations

from collections.abc import Sequence

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket, ToolCall
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.conversations.compaction import list_questions
from ferryman.domain.conversations.turns import cut_attachments
from ferryman.domain.executions.allowlist import list_webhook_hosts
from ferryman.domain.executions.execution import Execution, ExecutionSetup
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.urls.origin import SeenUrls, WebCall

WEB = "web"
"""What a tool of the public web reads, by its entry in the catalog."""

_SENDING = (NetworkPolicy.REGISTRY, NetworkPolicy.DECLARED_HOST, NetworkPolicy.WEBHOOK_LIST, NetworkPolicy.MCP_SERVER)


def begin_seen(execution: Execution, opening: ExecutionSetup) -> SeenUrls | None:
    """Return the URLs that an execution has seen at its start; None where none of its tools fetches any public page."""
    policy = execution.policy
    if policy is None or not any(fetches_any(name) for name in policy.tools):
        return None
    prompt = () if opening.is_prompt_foreign else (cut_attachments(opening.prompt),)
    written = (opening.system, *prompt, *list_questions(opening))
    return SeenUrls(written=written, admits=policy.admits, webhooks=list_webhook_hosts(policy))


def judge_calls(seen: SeenUrls | None, calls: Sequence[ToolCall]) -> list[UrlOrigin | None]:
    """Return the origin of the URL of each call of a turn; None for a call of any other tool."""
    raws = [call.arguments.get("url") for call in calls if fetches_any(call.name)]
    origins = iter([UrlOrigin.UNSEEN] * len(raws) if seen is None else seen.judge(raws))
    return [next(origins) if fetches_any(call.name) else None for call in calls]


def note_results(seen: SeenUrls, tickets: Sequence[Ticket]) -> None:
    """Take in the results of a turn."""
    seen.note(_read_call(ticket) for ticket in tickets)


def fetches_any(tool: str) -> bool:
    """Tell whether a tool fetches any public page."""
    return find_tool(tool).policy.network is NetworkPolicy.PUBLIC_ANY


def _read_call(ticket: Ticket) -> WebCall:
    policy, result = find_tool(ticket.tool).policy, ticket.result
    assert result is not None, "a turn is closed when all its calls have settled"
    return WebCall(
        arguments=ticket.display_arguments,
        content=result.content,
        url=result.url,
        origin=ticket.url_origin,
        searches=policy.network is NetworkPolicy.OPERATOR_ENDPOINT and WEB in policy.reads,
        sends=policy.network in _SENDING and not result.blocked,
        is_shown=result.ok and ticket.parent is None and not ticket.hidden,
    )
