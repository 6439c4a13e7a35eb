"""The tool `orchestrator__search_past_messages`: what was said in the workspace's conversations, by its words (S4-72)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ferryman.domain.calls.refusal import INVALID_ARGUMENTS
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message
from ferryman.domain.conversations.past import MessageHit
from ferryman.domain.workspaces.member import Right
from ferryman.selection.messages import list_query_words, list_words, rank_hits
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.platform.call import PlatformCall, register_tool

QUERY_CHARACTERS_MAX = 1_000
LIMIT_MAX = 50
SNIPPET_CHARACTERS = 300
"""What is shown of a message: around the first of the words."""

READ_CHARACTERS_MAX = 40_000
"""How much of a message is searched for them."""


async def search_past_messages(
    *, query: str, limit: float, db: PlatformCall, in_conversation: str | None = None, **_: Any
) -> str:
    """Return the best messages as JSON, the best first. Raise `LocalFunctionError`, which says what is wrong."""
    db.check_right(Right.READ)
    if not 0 < len(query) <= QUERY_CHARACTERS_MAX:
        raise LocalFunctionError(f"query: must have 1 to {QUERY_CHARACTERS_MAX:,} characters", code=INVALID_ARGUMENTS)
    words = list_query_words(query)
    if not words:
        raise LocalFunctionError("query: has no word to search for", code=INVALID_ARGUMENTS)
    if in_conversation is not None and await _find(db, in_conversation) is None:
        raise LocalFunctionError("in_conversation: there is no such conversation", code="not_found")
    hits = await db.deps.past_messages.find(words, workspace=db.workspace, conversation=in_conversation)
    most = int(max(1, min(limit, LIMIT_MAX)))
    results = await _read(db, rank_hits(words, hits), words, most)
    return json.dumps({"query": query, "results": results}, ensure_ascii=False)


async def _find(db: PlatformCall, name: str) -> Conversation | None:
    if "/" in name or not name:
        return None
    return await db.deps.conversations.get(name, owner=db.owner, workspace=db.workspace)


async def _read(db: PlatformCall, hits: Sequence[MessageHit], words: Sequence[str], most: int) -> list[dict[str, Any]]:
    """Return the first `most` of the hits that are there: in a conversation of the workspace that is not being deleted."""
    known: dict[str, Conversation | None] = {}
    results: list[dict[str, Any]] = []
    for hit in hits:
        if len(results) == most:
            break
        if hit.conversation not in known:
            known[hit.conversation] = await _find(db, hit.conversation)
        conversation = known[hit.conversation]
        if conversation is None:
            continue
        messages = await db.deps.conversations.get_messages(hit.conversation, [hit.number])
        results += [_describe(conversation, message, words) for message in messages]
    return results


def _describe(conversation: Conversation, message: Message, words: Sequence[str]) -> dict[str, Any]:
    return {
        "conversation_id": conversation.id,
        "conversation_title": conversation.title,
        "message": message.number,
        "role": str(message.role),
        "at": message.at.isoformat(),
        "text": cut_snippet(message.content, words),
    }


def cut_snippet(text: str, words: Sequence[str]) -> str:
    """Return the part of `text` around the first place with one of the words, in one line."""
    text, query_words, start = text[:READ_CHARACTERS_MAX], set(words), 0
    for part in text.split():
        if not query_words.isdisjoint(list_words(part)):
            start = max(0, text.find(part) - SNIPPET_CHARACTERS // 3)
            break
    cut = text[start : start + SNIPPET_CHARACTERS]
    line = " ".join(cut.split())
    return f"{'… ' if start else ''}{line}{' …' if start + SNIPPET_CHARACTERS < len(text) else ''}"


register_tool("orchestrator__search_past_messages", search_past_messages)
