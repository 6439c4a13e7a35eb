"""Approvals: the calls that wait for a person, exactly what each would send, and the decision about one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.effects import describe_effect
from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.approval_view import load_approval
from ferryman.serving.console.questions import read_answers
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{ROOT}/approvals"
WAITING_MAX = 20
"""How many calls that wait are on one page."""

REFRESH_S = 10
STATES = ("", *(state.value for state in ApprovalState))
CHAT = "chat"
"""The value of the field `from` in the form of an approval inside a conversation."""


async def show_approvals(request: ConsoleRequest) -> ConsolePage:
    """Show the calls that wait, and below them those that were decided about; `state` in the address is a filter."""
    state = request.query.get("state", "")
    state = state if state in STATES else ""
    cursor = request.query.get("cursor")
    waiting, decided = None, None
    if state == "pending" or (not state and not cursor):
        waiting = await request.api.get("/v1/approvals", state="pending", limit=WAITING_MAX, cursor=cursor)
    if state != "pending":
        decided = await request.api.get("/v1/approvals", state=state, cursor=cursor)
    agents = await request.api.get("/v1/agents", limit=100)
    return ConsolePage(
        template="approvals.html",
        title="Approvals",
        values={
            "waiting": None if waiting is None else [_describe(item) for item in waiting["approvals"]],
            "more_waiting": None if waiting is None else waiting["next"],
            "decided": None if decided is None else [_describe(item) for item in decided["approvals"] if _is_over(item, state)],
            "more_decided": None if decided is None else decided["next"],
            "agents": {agent["agent_id"]: agent["name"] for agent in agents["agents"]},
            "state": state,
            "states": [(value, value or "all") for value in STATES],
            "refresh_s": REFRESH_S,
        },
    )


async def show_approval(request: ConsoleRequest) -> ConsolePage:
    """Show what one call would send, and the form that decides about it."""
    return await _show(request)


async def approve_call(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Approve the sends of exactly what was shown."""
    return await _decide(request, "approved", verdict="approve", sends=_read_digit(request.read_field("sends")))


async def deny_call(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Deny the call; nothing is sent."""
    return await _decide(request, "denied", verdict="deny")


async def answer_questions(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Send the answers that were typed to the MCP server that asks."""
    approval = await request.api.get(_name(request))
    return await _decide(request, "answered", verdict="answer", arguments=read_answers(approval["form"], request.form))


async def _decide(request: ConsoleRequest, done: str, **decision: Any) -> ConsolePage | Redirect:
    body = {"digest": request.read_field("digest"), "reason": request.read_field("reason"), **decision}
    try:
        decided = await request.api.post(f"{_name(request)}/decision", body)
    except ApiProblemError as error:
        if error.status in (401, 404):
            raise
        return await _show(request, error)
    if request.read_field("from") == CHAT and decided["conversation_id"]:
        return Redirect(path=f"{ROOT}/conversations/{decided['conversation_id']}")
    waiting = await request.api.get("/v1/approvals", state="pending", limit=WAITING_MAX)
    following = next((item["approval_id"] for item in waiting["approvals"] if not item["expired"]), None)
    return Redirect(path=f"{PATH}/{following}" if following else PATH, done=done)


async def _show(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    approval = await request.api.get(_name(request))
    me = await request.api.get("/v1/me")
    errors = {} if refused is None else refused.by_field or {"decision": refused.detail}
    return ConsolePage(
        template="approval.html",
        title=f"Approval {approval['approval_id']}",
        values={
            "view": await load_approval(request, approval, me["rights"]),
            "errors": errors,
            # decided about by somebody else meanwhile, as is then to be seen
            **({"refresh_s": REFRESH_S} if approval["state"] == "pending" else {}),
            "reason": request.read_field("reason"),
        },
        status=200 if refused is None else refused.status,
    )


def _describe(item: Mapping[str, Any]) -> dict[str, Any]:
    return {**item, "effect": show_text(describe_effect(item["tool"]))}


def _is_over(item: Mapping[str, Any], state: str) -> bool:
    """Tell whether an item belongs below those that wait."""
    return bool(state) or item["state"] != "pending"


def _name(request: ConsoleRequest) -> str:
    return f"/v1/approvals/{request.params['approval_id']}"


def _read_digit(text: str) -> int:
    """Return a number of one digit; 0, which is no number of sends, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) == 1 else 0


ROUTES = (
    ConsoleRoute(path=PATH, show=show_approvals, section="approvals"),
    ConsoleRoute(
        path=f"{PATH}/{{approval_id}}",
        show=show_approval,
        section="approvals",
        actions={"approve": approve_call, "deny": deny_call, "answer": answer_questions},
    ),
)
