"""Messages of a conversation as a page shows them: texts as Markdown, calls beside them, and answers that are still written."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ferryman import offload
from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.approval_view import load_approval
from ferryman.serving.console.foreign_text import show_block
from ferryman.serving.console.markdown import render_markdown
from ferryman.serving.console.routing import ConsoleRequest

HERE_MAX = 1_000
"""Texts with more characters and cells together are rendered in a worker: nobody's text holds up other pages."""

TEXT_MAX = 20_000
"""How much of one message a conversation shows, before a link to all of it."""

CALLS_MAX = 100
APPROVALS_MAX = 5

offload.preload(render_markdown)


def render_all(texts: Sequence[str]) -> list[str]:
    """Return the markup of each text."""
    return [str(render_markdown(text)) for text in texts]


async def render_texts(owner: str, texts: Sequence[str]) -> list[Markup]:
    """Return the markup of each text, as it is where that takes too long."""
    if sum(map(_count_work, texts)) <= HERE_MAX:
        rendered = render_all(texts)
    else:
        try:
            rendered = await offload.run(owner, offload.TEXT, render_all, list(texts))
        except (offload.OverBudgetError, offload.JobFailedError):
            rendered = await to_thread(_write_plainly, texts)
    return [Markup(markup) for markup in rendered]  # noqa: S704 - of render_markdown, which escapes


def _count_work(text: str) -> int:
    """Return the characters of a text, and the cells that a table may have: a line of it has all that its head has."""
    return len(text) + text.count("|") * text.count("\n")


def _write_plainly(texts: Sequence[str]) -> list[str]:
    return [str(Markup("<pre>{}</pre>").format(show_block(text))) for text in texts]


async def describe_messages(request: ConsoleRequest, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the template's values of messages of the API: the pieces of each in their order."""
    described = [{**message, "pieces": list(_list_pieces(message))} for message in messages]
    pieces = [piece for message in described for piece in message["pieces"] if piece["kind"] == "text"]
    for piece, markup in zip(
        pieces, await render_texts(request.session.owner, [piece["text"] for piece in pieces]), strict=True
    ):
        piece["markup"] = markup
    return described


async def describe_pending(request: ConsoleRequest, pending: Mapping[str, Any], rights: list[str]) -> dict[str, Any]:
    """Return the template's values of a pending answer: its calls so far, and the approvals that wait for a person."""
    execution = pending["execution_id"]
    calls = await request.api.get(f"/v1/executions/{execution}/calls", limit=CALLS_MAX)
    approvals = []
    if any(call["state"] == "waiting" for call in calls["calls"]):
        waiting = await request.api.get("/v1/approvals", execution=execution, state="pending", limit=APPROVALS_MAX)
        for item in waiting["approvals"]:
            approval = await request.api.get(f"/v1/approvals/{item['approval_id']}")
            approvals.append(await load_approval(request, approval, rights))
    described = [
        {
            "kind": "call",
            "id": call["id"],
            "name": call["called_as"] or call["tool"],
            "arguments": call["arguments"],
            "result": None if call["result"] is None else call["result"]["content"],
            "state": _name_state(call),
        }
        for call in calls["calls"]
    ]
    return {"number": pending["number"], "execution_id": execution, "calls": described, "approvals": approvals}


def describe_progress(done: float, total: float | None, message: str) -> str:
    """Return how far a call is, as its host says it: a stranger's text, with every character to be seen."""
    far = f"{done:g}" if total is None else f"{done:g} of {total:g}"
    return f"{far}: {show_text(message)}" if message else far


def _name_state(call: Mapping[str, Any]) -> str:
    if call["result"] is None:
        return str(call["state"])
    return "done" if call["result"]["ok"] else "failed"


def _list_pieces(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if message["role"] != "assistant":
        return
    results = {result["toolCallId"]: result["content"] for result in message["toolResults"]}
    last = None
    for turn in message["messages"]:
        if turn["role"] != "assistant":
            continue
        if turn["content"]:
            last = turn["content"]
            yield _shorten(turn["content"])
        for call in turn.get("toolCalls", ()):
            yield {"kind": "call", "state": "", **_pick(call), "result": results.get(call["id"])}
    # its turns with calls, and then what it ended with
    if message["content"] and message["content"] != last:
        yield _shorten(message["content"])


def _shorten(text: str) -> dict[str, Any]:
    return {"kind": "text", "text": text[:TEXT_MAX], "characters": len(text), "is_cut": len(text) > TEXT_MAX}


def _pick(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": call["name"], "arguments": call["arguments"]}
