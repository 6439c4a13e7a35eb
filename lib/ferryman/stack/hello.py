"""Hello: what every local stack can do from the start: scripts of the model, and the hosts that they ask."""

from __future__ import annotations

from typing import Any

from ferryman.stack.admin import Admin

SCRIPT = "hello"
HOST = "api.coingecko.com"
PATH = "/api/v3/ping"
CREDENTIAL = "COINGECKO_API_KEY"
ANSWER = "I asked CoinGecko twice, without a key and with it; the calls show what it said."

CHAT_SCRIPT = "chat"
CHAT_ANSWER = """\
The answer is **42**.

1. I am a *script*: whatever you say, I say this.
2. The calculator is real: its call, with what came of it, stands above.
"""
CHAT_PACE = {"delay_ms": 30}

ALERT_SCRIPT = "alert"
ALERT_PATH = "/api/v3/alerts"
ALERT_ANSWER = "I have asked for an alert; the call shows what came of it."

MCP_HOST = "mcp.example.com"
"""An MCP server without a key, whose tools somebody may accept for an agent."""

MCP_SCRIPT = "mcp"
MCP_ANSWER = "I have asked the MCP server `demo`; the call shows what it answered."

_ROUTES: list[dict[str, Any]] = [
    {"path": PATH, "json": {"gecko_says": "(V3) To the Moon!"}},
    {"method": "POST", "path": ALERT_PATH, "json": {"alert": 1}},
]


def build_script() -> dict[str, Any]:
    """Return the model's turns; it expects nothing, so that a task that lacks a tool or the key still ends, with refusals to
    read."""
    url = f"https://{HOST}{PATH}"
    bare = {"name": "http_get", "input": {"url": url}}
    keyed = {"name": "api_call", "input": {"method": "GET", "url": url, "credential": CREDENTIAL}}
    return {
        "steps": [
            {"text": "First without a key.", "tool_calls": [bare]},
            {"text": "And now with it.", "tool_calls": [keyed]},
            {"text": ANSWER},
        ]
    }


def build_chat_script() -> dict[str, Any]:
    """Return the turns of a model that one can talk with: it works something out, and answers in Markdown, word by word."""
    work = {"name": "calculator", "input": {"expression": "6 * 7"}}
    return {
        "steps": [
            {"text": "Let me work that out.", "tool_calls": [work], "stream": CHAT_PACE},
            {"text": CHAT_ANSWER, "stream": CHAT_PACE},
        ],
        "each_question": True,
    }


def build_alert_script() -> dict[str, Any]:
    """Return the turns of a model that has something changed, which a task may have a person asked about."""
    body = {"coin": "bitcoin", "above": 100_000}
    change = {"name": "http_post", "input": {"url": f"https://{HOST}{ALERT_PATH}", "body": body}}
    return {"steps": [{"text": "I ask for an alert.", "tool_calls": [change]}, {"text": ALERT_ANSWER}]}


def build_mcp_script() -> dict[str, Any]:
    """Return the turns of a model that calls a tool of the MCP server that was added as `demo`."""
    work = {"name": "demo__echo", "input": {"text": "ferries"}}
    return {
        "steps": [{"text": "I ask the MCP server.", "tool_calls": [work]}, {"text": MCP_ANSWER, "stream": CHAT_PACE}],
        "each_question": True,
    }


async def load_hello(admin: Admin) -> None:
    """Have the local cloud know the scripts and their hosts."""
    await admin.serve_routes(HOST, _ROUTES)
    await admin.serve_mcp(MCP_HOST, {})
    await admin.set_script(SCRIPT, build_script())
    await admin.set_script(CHAT_SCRIPT, build_chat_script())
    await admin.set_script(ALERT_SCRIPT, build_alert_script())
    await admin.set_script(MCP_SCRIPT, build_mcp_script())
