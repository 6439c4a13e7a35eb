"""One message of a conversation: all of it, in pages that a browser lays out at once, or as a text to download."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from ferryman import offload
from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.conversation_view import HERE_MAX, render_texts
from ferryman.serving.console.foreign_text import show_block
from ferryman.serving.console.pages.conversations import PATH
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute
from ferryman.serving.console.security_headers import HEADERS

PAGE_CHARACTERS = 50_000
"""How much of a text is on one page: browsers take half a minute for a line of a million characters."""

BREAK_CHARACTERS = 5_000
"""A page ends with a line, where one ends among its last so many characters."""

MESSAGE = f"{PATH}/{{conversation_id}}/messages/{{number}}"


async def show_message(request: ConsoleRequest) -> ConsolePage:
    """Show one message, or the part of a long one that `page` in the address names."""
    message = await _find_message(request)
    content = message["content"] or ""
    parts = list_parts(content)
    page = min(max(_read_number(request.query.get("page", "")), 1), len(parts))
    start, end = parts[page - 1]
    is_markdown = message["role"] == "assistant" and len(parts) == 1
    markup, text = None, ""
    if is_markdown:
        markup = (await render_texts(request.session.owner, [content]))[0]
    else:
        text = await _show_text(request.session.owner, content[start:end])
    return ConsolePage(
        template="message.html",
        title=f"Message {message['number']}",
        values={
            "message": message,
            "markup": markup,
            "text": text,
            "conversation": request.params["conversation_id"],
            "characters": len(content),
            "start": start,
            "end": end,
            "number_of_page": page,
            "pages": len(parts),
        },
    )


async def download_message(request: ConsoleRequest) -> Response:
    """Send the text of a message as a file."""
    message = await _find_message(request)
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="message-{message["number"]}.txt"'}
    return Response(message["content"] or "", media_type="text/plain", headers=headers)


def list_parts(text: str) -> list[tuple[int, int]]:
    """Return where each page of `text` begins and ends: at a line break where there is one near, and one page at least."""
    parts, start = [], 0
    while len(text) - start > PAGE_CHARACTERS:
        end = start + PAGE_CHARACTERS
        end = text.rfind("\n", end - BREAK_CHARACTERS, end) + 1 or end
        parts.append((start, end))
        start = end
    return [*parts, (start, len(text))]


async def _show_text(owner: str, text: str) -> str:
    return show_block(text) if len(text) <= HERE_MAX else await offload.run(owner, offload.TEXT, show_block, text)


async def _find_message(request: ConsoleRequest) -> Mapping[str, Any]:
    """Return a message of the API. Raise `ApiProblemError` where there is none of this number."""
    number = _read_number(request.params["number"])
    path = f"/v1/conversations/{request.params['conversation_id']}/messages"
    listed = await request.api.get(path, branch=number or None, limit=1)
    message: Mapping[str, Any] | None = next((item for item in listed["messages"] if item["number"] == number), None)
    if message is None:
        raise ApiProblemError(404, {"title": "Not found", "detail": "there is no such message"})
    return message


def _read_number(text: str) -> int:
    """Return a number of at most five digits; 0, which no message has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 5 else 0


ROUTES = (
    ConsoleRoute(path=MESSAGE, show=show_message, section="conversations"),
    ConsoleRoute(path=f"{MESSAGE}/download", show=download_message, section="conversations"),
)
