"""Conversations: their list, and the beginning of another one with an agent."""

from __future__ import annotations

from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{ROOT}/conversations"


async def show_conversations(request: ConsoleRequest) -> ConsolePage:
    """Show the conversations of the workspace, newest first."""
    return await _show(request)


async def begin_conversation(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Begin a conversation with the agent that was chosen, and open it."""
    body = {"agent_id": request.read_field("agent") or None, "title": request.read_field("title").strip() or None}
    try:
        begun = await request.api.post("/v1/conversations", body, once=request.read_field("once"))
    except ApiProblemError as error:
        if error.status == 401:
            raise
        return await _show(request, error)
    return Redirect(path=f"{PATH}/{begun['conversation_id']}")


async def _show(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    listed = await request.api.get("/v1/conversations", cursor=request.query.get("cursor"))
    agents = (await request.api.get("/v1/agents", limit=100))["agents"]
    choices = [agent for agent in agents if not agent["archived"]]
    return ConsolePage(
        template="conversations.html",
        title="Chat",
        values={
            "listed": listed,
            "agents": {agent["agent_id"]: agent["name"] for agent in agents},
            "choices": [("", "The default agent"), *((agent["agent_id"], agent["name"]) for agent in choices)],
            "chosen": request.read_field("agent"),
            "typed": request.read_field("title"),
            "errors": {} if refused is None else refused.by_field or {"conversation": refused.detail},
        },
        status=200 if refused is None else refused.status,
    )


ROUTES = (ConsoleRoute(path=PATH, show=show_conversations, section="conversations", actions={"begin": begin_conversation}),)
