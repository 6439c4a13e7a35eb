"""One conversation: its messages, the answer that is being written, and everything that a person says or stops in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.api_client import ApiProblemError, write_once
from ferryman.serving.console.branches import find_branches
from ferryman.serving.console.conversation_view import describe_messages, describe_pending, describe_progress
from ferryman.serving.console.live import RelayedEvent, relay_events
from ferryman.serving.console.pages.conversations import PATH
from ferryman.serving.console.parts import find_parts
from ferryman.serving.console.rendering import render_apart, render_page
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

MESSAGES_MAX = 20
"""How many messages are on one page; a link leads to earlier ones."""

INLINE_LINES_MAX = 200
"""What waits for a person and has more lines is read on its own page."""

FILES_MAX = 100
ENDS = ("done", "error")
CHANGES = (*ENDS, "tool_call", "tool_result", "approval_required", "approval_decided")
"""The types of events after which the calls of an answer are shown again."""


async def show_conversation(request: ConsoleRequest) -> ConsolePage:
    """Show the branch that `branch` in the address ends, or the one that was written last."""
    return await _show(request)


async def stream_answer(request: ConsoleRequest) -> Response:
    """Send what is written of an answer as it comes, and parts of the conversation's page where more has happened."""
    number = _read_number(request.query.get("answer", ""))
    query = {**{name: request.query[name] for name in ("model", "tools") if name in request.query}, "branch": str(number)}
    target = replace(request, path=f"{PATH}/{request.params['conversation_id']}", query=query)

    async def render(events: Sequence[RelayedEvent]) -> Mapping[str, Any]:
        sent: dict[str, Any] = {}
        kinds = {event.data["type"] for event in events}
        if texts := _join_texts(events):
            sent["text"] = {"answer": number, "texts": texts}
        if kinds & set(CHANGES):
            ids = [f"m-{number}"] if kinds & set(ENDS) else [f"calls-{number}"]
            page = await _show(target)
            ended = ConsolePage(template=page.template, title=page.title, values=page.values)
            sent["parts"] = {"parts": await render_apart(request, lambda: find_parts(render_page(ended, target), ids))}
        if reports := list_reports(events):
            sent["progress"] = {"answer": number, "reports": reports}
        return sent

    return await relay_events(request, f"{_name(request)}/events", render, answer=number or None)


async def say(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Say something, and wait for the answer; where the page has a script, the answer comes by itself."""
    body: dict[str, Any] = {"content": request.read_field("content"), "attachments": _read_keys(request)}
    if after := _read_number(request.read_field("after")):
        body["after"] = after
    return await _ask(request, "messages", body)


async def edit_message(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Say something in the place of a message: another branch begins there."""
    edited = _read_number(request.read_field("number"))
    return await _ask(request, "messages", {"content": request.read_field("content"), "edits": edited})


async def regenerate_answer(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Ask for another answer in the place of one."""
    return await _ask(request, f"messages/{_read_number(request.read_field('number'))}/regenerate", {})


async def stop_answer(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Stop an answer; what was written until then is kept."""
    number = _read_number(request.read_field("number"))
    return await _change(request, "stopped", "POST", f"{_name(request)}/stop", query={"answer": number or None})


async def rename_conversation(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Give the conversation another title."""
    return await _change(request, "saved", "PATCH", _name(request), body={"title": request.read_field("title")})


async def delete_conversation(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Have the conversation deleted, with its messages and executions."""
    result = await _change(request, "", "DELETE", _name(request))
    return Redirect(path=PATH, done="deleting") if isinstance(result, Redirect) else result


async def _change(request: ConsoleRequest, done: str, method: str, path: str, **about: Any) -> ConsolePage | Redirect:
    try:
        await request.api.ask(method, path, **about)
    except ApiProblemError as error:
        return await _refuse(request, error)
    return Redirect(path=request.path, done=done)


async def _ask(request: ConsoleRequest, path: str, body: dict[str, Any]) -> ConsolePage | Redirect:
    model, has_tools, once = request.read_field("model"), "tools" in request.form, request.read_field("once")
    is_live = request.read_field("live") == "1"
    question = {**body, "model": model or None, "enableTools": has_tools, "stream": is_live}
    try:
        # what is streamed goes on without this request: the page that follows watches it
        async with request.api.open("POST", f"{_name(request)}/{path}", body=question, headers=write_once(once)) as (_, parts):
            if not is_live:
                async for _part in parts:
                    pass
    except ApiProblemError as error:
        return await _refuse(request, error)
    choices = {**({"model": model} if model else {}), **({} if has_tools else {"tools": "off"})}
    return Redirect(path=f"{request.path}{'?' if choices else ''}{urlencode(choices)}#say")


async def _refuse(request: ConsoleRequest, error: ApiProblemError) -> ConsolePage:
    if error.status in (401, 404):
        raise error
    return await _show(request, error)


async def _show(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    conversation = await request.api.get(_name(request))
    head = conversation["head"]
    end = _read_number(request.query.get("branch", "")) or head
    listed: Mapping[str, Any] = {"messages": [], "next": None}
    if end:
        cursor = request.query.get("cursor")
        listed = await request.api.get(f"{_name(request)}/messages", branch=end, limit=MESSAGES_MAX, cursor=cursor)
    messages = await describe_messages(request, listed["messages"][::-1])
    me = await request.api.get("/v1/me")
    is_newest = not request.query.get("cursor")
    is_attaching = "attach" in request.query or request.query.get("done") == "uploaded"
    waiting = _place_pending(messages, conversation["pending"], end) if is_newest else {}
    last = messages[-1] if messages else None
    return ConsolePage(
        template="conversation.html",
        title=show_text(conversation["title"]) or "Conversation",
        values={
            "conversation": conversation,
            "agent": await _find_agent(request, conversation["agent_id"]),
            "models": [("", "That of the agent"), *await _list_models(request)],
            "messages": messages,
            "branches": await find_branches(request.api, conversation["conversation_id"], messages, head=head, end=end),
            "earlier": f"{request.path}?branch={end}" if listed["next"] else "",
            "next": listed["next"],
            "pending": {place: await describe_pending(request, item, me["rights"]) for place, item in waiting.items()},
            "is_newest": is_newest,
            "inline_lines_max": INLINE_LINES_MAX,
            "after": last["number"] if end != head and last is not None and last["role"] == "assistant" else 0,
            "editing": _read_number(request.query.get("edit", "")),
            "files": await _list_files(request) if is_attaching else None,
            "may_run": "run" in me["rights"],
            "may_manage": "manage" in me["rights"],
            "has_tools": "tools" in request.form if request.form else request.query.get("tools") != "off",
            "model": request.read_field("model") or request.query.get("model", ""),
            "draft": request.read_field("content") if refused is not None else "",
            "keys": "\n".join(_read_keys(request)),
            "errors": {} if refused is None else refused.by_field or {"conversation": refused.detail},
        },
        status=200 if refused is None else refused.status,
    )


def _place_pending(
    messages: Sequence[Mapping[str, Any]], pending: Sequence[Mapping[str, Any]], end: int
) -> dict[int, Mapping[str, Any]]:
    """Return the answers that this branch waits for, each by the number of the message that it comes after."""
    waiting = {item["number"]: item for item in pending}
    places: dict[int, Mapping[str, Any]] = {}
    before = 0
    for message in messages:
        if message["parent"] in waiting:
            places[before] = waiting[message["parent"]]
        before = message["number"]
    following = waiting.get(end) or waiting.get(before + 1)
    if following is not None:
        places[before] = following
    return places


def _join_texts(events: Sequence[RelayedEvent]) -> list[list[Any]]:
    """Return the turns and texts that events bring, in order; None in the place of a text takes all of its turn away."""
    texts: list[list[Any]] = []
    for event in events:
        if event.data["type"] == "replace":
            texts.append([event.data["iteration"], None])
        elif event.data["type"] == "content":
            turn, text = event.data["iteration"], _show_piece(event.data["content"])
            if texts and texts[-1][0] == turn and texts[-1][1] is not None:
                texts[-1][1] += text
            else:
                texts.append([turn, text])
    return texts


def list_reports(events: Sequence[RelayedEvent]) -> list[list[str]]:
    """Return the calls under way whose hosts said how far they are, each with the newest report in words."""
    reports = {event.data["toolCallId"]: event.data for event in events if event.data["type"] == "tool_progress"}
    return [[call, describe_progress(**_pick_progress(report))] for call, report in reports.items()]


def _pick_progress(report: Mapping[str, Any]) -> dict[str, Any]:
    return {name: report[name] for name in ("done", "total", "message")}


def _show_piece(text: str) -> str:
    """Write a piece of a text with all of its characters to be seen; spaces at its ends are not those of a line."""
    return "\n".join(show_text(f"x{line}x")[1:-1] for line in text.split("\n"))


async def _find_agent(request: ConsoleRequest, name: str) -> Mapping[str, Any] | None:
    try:
        agent: Mapping[str, Any] = await request.api.get(f"/v1/agents/{name}")
    except ApiProblemError:
        return None  # it was deleted; what was said with it stays
    return agent


async def _list_models(request: ConsoleRequest) -> list[tuple[str, str]]:
    listed = await request.api.get("/v1/models", limit=100)
    return [(model["name"], model["name"]) for model in listed["models"]]


async def _list_files(request: ConsoleRequest) -> list[str]:
    try:
        listed = await request.api.get("/v1/files", limit=FILES_MAX)
    except ApiProblemError:
        return []  # there is no bucket here
    newest = sorted(listed["files"], key=lambda file: str(file["updated_at"]), reverse=True)
    return [file["key"] for file in newest]


def _read_keys(request: ConsoleRequest) -> list[str]:
    """Return the keys of files that are to be attached: chosen ones, and those that were typed, one on a line."""
    typed = [line.strip() for line in request.read_field("keys").split("\n")]
    return list(dict.fromkeys(key for key in (*request.form.get("file", ()), *typed) if key))


def _name(request: ConsoleRequest) -> str:
    return f"/v1/conversations/{request.params['conversation_id']}"


def _read_number(text: str) -> int:
    """Return a number of at most five digits; 0, which no message has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 5 else 0


ACTIONS = {
    "say": say,
    "edit": edit_message,
    "regenerate": regenerate_answer,
    "stop": stop_answer,
    "rename": rename_conversation,
    "delete": delete_conversation,
}
ROUTES = (
    ConsoleRoute(path=f"{PATH}/{{conversation_id}}", show=show_conversation, section="conversations", actions=ACTIONS),
    ConsoleRoute(path=f"{PATH}/{{conversation_id}}/live", show=stream_answer, section="conversations"),
)
