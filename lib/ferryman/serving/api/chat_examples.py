"""Examples of the answers of conversations, for the description."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from pydantic import BaseModel

from ferryman.domain.conversations.conversation import PendingAnswer
from ferryman.serving.api.shapes import conversation as shapes

_AT = datetime(2026, 11, 22, 9, tzinfo=UTC)
_CONVERSATION, _EXECUTION = "conv_9a1fd20bc0de8f4470e9d3c1ab52f6", "exec_67ec551ec9450d2efb780e96f8ac1a"
_CALL = {"id": "tc_abc123", "name": "web_fetch", "arguments": {"url": "https://ferries.example.com/winter"}}
_RESULT = {"role": "tool", "toolCallId": "tc_abc123", "content": '"Departures: 23:00 daily."'}
_TURNS = (
    {"role": "assistant", "content": None, "toolCalls": [_CALL]},
    _RESULT,
    {"role": "assistant", "content": "At 23:00, every day."},
)

CHAT_SETTINGS = {"tools_enabled": True, "enabled_tools": ["http_get"], "titles": "model"}
"""The settings of an agent that hold in conversations."""


def build_chat_answers() -> dict[str, BaseModel]:
    """Return an example of the answer of each operation on conversations, by operationId."""
    stored = shapes.ConversationResponse.model_validate(
        {
            **{"id": _CONVERSATION, "workspace": "ws_5d41402abc4b2a76b9719d911017c5", "title": "Ferries in winter"},
            **{"agent": "agent_3f8a7c1d09b2e4a6f5c8d7e6b1a203", "task": "task_2b525468e13227c127f103c34f5e4e"},
            **{"person_id": None, "head": 2, "created_at": _AT, "updated_at": _AT},
            "pending": (PendingAnswer(2, _EXECUTION),),
        }
    )
    nothing = {"attachments": (), "tool_calls": (), "tool_results": (), "messages": (), "metadata": None}
    question = shapes.MessageResponse.model_validate(
        {
            **{"number": 1, "parent": 0, "role": "user", "content": "When does the ferry leave?", "created_at": _AT},
            **nothing,
            **{"person_id": "person_900150983cd24fb0d6963f7d28e17f"},
        }
    )
    metadata = {"state": "complete", "model": "claude-haiku-4-5", "execution_id": _EXECUTION, "error": None}
    answer = shapes.MessageResponse.model_validate(
        {
            **{"number": 2, "parent": 1, "role": "assistant", "content": "At 23:00, every day.", "created_at": _AT},
            **{"person_id": None, "attachments": (), "tool_calls": (_CALL,), "tool_results": (_RESULT,), "messages": _TURNS},
            "metadata": {**metadata, "credits_used": Decimal("1.25")},
        }
    )
    events = f"/v1/executions/{_EXECUTION}/events"
    chat = shapes.ChatResponse(conversation_id=_CONVERSATION, user_message=question, assistant_message=answer, events=events)
    settled = stored.model_copy(update={"pending": ()})
    return {
        **dict.fromkeys(("getConversation",), stored),
        **dict.fromkeys(("createConversation", "changeConversation", "cancelAnswers"), settled),
        "listConversations": shapes.ConversationList(conversations=(stored,), next=None),
        "listMessages": shapes.MessageList(messages=(question, answer), next=None),
        **dict.fromkeys(("createChatMessage", "createMessage"), chat),
        "createAnswer": chat.model_copy(update={"user_message": None}),
    }
