"""The request of a prompt: its path, and its body as the bytes that are sent."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from ferryman.domain.executions.found_tools import DEFERRED
from ferryman.domain.executions.message import Prompt
from ferryman.domain.operator_model import OperatorModel
from ferryman.models.breakpoints import mark_messages, mark_system, mark_tools

PATH = "/v1/messages"
VERTEX_VERSION = "2026-10-21"
"""The version of the Messages API, which Vertex AI wants in the body; a test holds it to be the SDK's own."""

SCRIPTED = "scripted"
"""Models of this name (or `scripted/NAME`) are played by the local cloud's scripted Messages API."""

_SAMPLED = ("claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5", SCRIPTED)
"""Models that still take a temperature; later ones refuse it."""

_SEGMENT = "!$&'()*+,=:@"
"""Characters of a path's segment that need no escape; a server may drop `;` and what follows it."""


def build_vertex_path(project: str, region: str, model: str) -> str:
    """Return the path of a model on Vertex AI, which says in it what the body says elsewhere."""
    project, region, model = (quote(part, safe=_SEGMENT) for part in (project, region, model))
    return f"/projects/{project}/locations/{region}/publishers/anthropic/models/{model}:streamRawPredict"


def encode(prompt: Prompt, served: OperatorModel | None, *, is_vertex: bool) -> bytes:
    """Return the body as JSON. A model `served` by the operator is asked under the name that its server knows."""
    body: dict[str, Any] = {"anthropic_version": VERTEX_VERSION} if is_vertex else {}
    if not is_vertex:
        body["model"] = prompt.model if served is None else served.served_as
    body |= {"max_tokens": prompt.max_tokens, "stream": True}
    if prompt.temperature is not None and (served is not None or prompt.model.startswith(_SAMPLED)):
        body["temperature"] = prompt.temperature
    tools, messages = list(prompt.tools), prompt.encode_messages()
    system: str | list[dict[str, Any]] = prompt.system
    if served is None:
        tools, system, messages = mark_tools(tools), mark_system(prompt.system), mark_messages(prompt.messages, messages)
    elif any(DEFERRED in tool for tool in tools):
        tools, messages = _list_plainly(prompt)
    if tools:
        body["tools"] = tools
        if prompt.closing:
            body["tool_choice"] = {"type": "none"}
    body["system"] = system
    head = json.dumps(body, separators=(",", ":")).encode("ascii")
    return b'%b,"messages":[%b]}' % (head.removesuffix(b"}"), b", ".join(messages))


def _list_plainly(prompt: Prompt) -> tuple[list[Any], list[bytes]]:
    """Return the tools and the messages of `prompt` for a server that may know no references to tools: what was found is
    listed like any other tool, and named in the text of its result."""
    tools = [{name: value for name, value in tool.items() if name != DEFERRED} for tool in prompt.tools]
    messages = [{**message, "content": _write_references(message["content"])} for message in prompt.messages]
    return tools, [json.dumps(message, sort_keys=True).encode() for message in messages]


def _write_references(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [
        {**block, "content": f"Found: {', '.join(part['tool_name'] for part in block['content'])}."}
        if block["type"] == "tool_result" and not isinstance(block["content"], str)
        else block
        for block in content
    ]
