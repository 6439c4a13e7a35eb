"""The tools that this server has besides those of an agent: to run tasks, to talk with the agent, and to pick things up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.conversations.message import CONTENT_CHARACTERS_MAX
from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX
from ferryman.serving.api.mcp.outcome import GET_EXECUTION, OUTPUT_SCHEMA

RUN_TASK, ASK_AGENT, LIST_TASKS = "run_task", "ask_agent", "list_tasks"
WAIT_S_MAX = 50
TASKS_LISTED_MAX = 50
READING = (GET_EXECUTION, LIST_TASKS)
"""Those that start nothing."""

_ID = {"type": "string", "minLength": 1, "maxLength": 64}


def _build(
    name: str,
    title: str,
    description: str,
    properties: Mapping[str, Any],
    *,
    required: tuple[str, ...] = (),
    changes: bool = False,
    output: Mapping[str, Any] = OUTPUT_SCHEMA,
) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    hints = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False} if changes else {"readOnlyHint": True}
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": schema,
        "outputSchema": output,
        "annotations": {**hints, "openWorldHint": changes},
    }


TASKS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "tasks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("task_id", "name", "description", "agent_id")},
                "required": ["task_id", "name"],
            },
        },
        "next": {"type": ["string", "null"]},
    },
}

OWN_TOOLS: Mapping[str, dict[str, Any]] = {
    tool["name"]: tool
    for tool in (
        _build(
            ASK_AGENT,
            "Ask the agent",
            "Say something to the agent, in a new conversation or in one that exists, and return its answer. The conversation "
            "is stored: it can be gone on with from any client. The answer goes on being written where this client leaves.",
            {
                "message": {"type": "string", "minLength": 1, "maxLength": CONTENT_CHARACTERS_MAX},
                "conversation_id": {**_ID, "description": "One of the agent's; without it a new one"},
            },
            required=("message",),
            changes=True,
        ),
        _build(
            GET_EXECUTION,
            "Pick up an execution",
            "Return the result of a call, a task or an answer by its execution_id, or how far it is. Anyone may have begun it.",
            {
                "execution_id": _ID,
                "wait_s": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": WAIT_S_MAX,
                    "description": "For how many seconds its end is waited for",
                },
            },
            required=("execution_id",),
        ),
        _build(
            LIST_TASKS,
            "List tasks",
            f"Return the stored tasks of the workspace, which {RUN_TASK} runs.",
            {"after": {"type": "string", "maxLength": 4_096, "description": "What a list before this one had as next"}},
            output=TASKS_SCHEMA,
        ),
        _build(
            RUN_TASK,
            "Run a task",
            "Start a stored task and return its answer. It goes on where this client leaves.",
            {
                "task_id": {**_ID, "description": f"As {LIST_TASKS} has it"},
                "input": {
                    "type": "string",
                    "maxLength": INPUT_CHARACTERS_MAX,
                    "description": "What the task is given besides its own prompt; it counts as untrusted text",
                },
            },
            required=("task_id",),
            changes=True,
        ),
    )
}
"""By name. A tool of an agent that has one of these names is not listed here."""
