"""Rules: what the real service refuses in a request, and what a script expects of one."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from emulator.messages.script import SIGNATURE, Expect, sign
from emulator.reading import InvalidRequestError, check_kind, read_member, read_object

MEMBERS = {
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "thinking",
    "service_tier",
    "container",
    "cache_control",
    "output_config",
    "inference_geo",
    "speed",
    "diagnostics",
}
PAUSED = ("server_tool_use", "mcp_tool_use")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")

Message = Mapping[str, Any]


def check_request(body: Mapping[str, object]) -> None:
    """Raise InvalidRequestError, as the service words it, for a request it would answer 400."""
    if unknown := sorted(set(body) - MEMBERS):
        raise InvalidRequestError(f"{unknown[0]}: Extra inputs are not permitted")
    for key, kind in (("model", str), ("max_tokens", int), ("messages", list)):
        if key not in body:
            raise InvalidRequestError(f"{key}: Field required")
        check_kind(body[key], kind, key)
    if read_member(body, "max_tokens", int, "request") < 1:
        raise InvalidRequestError("max_tokens: Input should be greater than or equal to 1")
    tools = _check_tools(read_member(body, "tools", list, "request", []))
    if any(not text for text in system_texts(body)):
        raise InvalidRequestError("system: text content blocks must be non-empty")
    messages = [read_object(item, f"messages.{n}") for n, item in enumerate(read_member(body, "messages", list, "request"))]
    _check_roles(messages)
    _check_blocks(messages)
    _check_pairs(messages)
    _check_references(messages, tools)
    if not tools and any(block.get("type") in ("tool_use", "tool_result") for m in messages for block in list_blocks(m)):
        raise InvalidRequestError("Requests which include `tool_use` or `tool_result` blocks must define tools.")


def check_expected(expect: Expect, body: Mapping[str, Any]) -> None:
    """Raise InvalidRequestError, naming what is missing, when a request is not what the script expects."""
    last = "\n".join(iterate_texts(body["messages"][-1]))
    system = "\n".join(system_texts(body))
    for part in expect.last_contains:
        if part not in last:
            raise InvalidRequestError(f"the last message does not contain {part!r}; it is {_shorten(last)!r}")
    for part in expect.system_contains:
        if part not in system:
            raise InvalidRequestError(f"the system prompt does not contain {part!r}")
    offered = sorted(tool["name"] for tool in body.get("tools", []))
    if expect.tools is not None and offered != sorted(expect.tools):
        raise InvalidRequestError(
            f"the tools are {', '.join(offered) or 'none'} and not {', '.join(sorted(expect.tools)) or 'none'}"
        )


def list_blocks(message: Message) -> list[dict[str, Any]]:
    """Return a message's content as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def iterate_texts(message: Message) -> Iterator[str]:
    """Yield the texts of a message, those of tool results among them."""
    for block in list_blocks(message):
        if block.get("type") == "text":
            yield block["text"]
        elif block.get("type") == "tool_result" and "content" in block:
            yield from iterate_texts(block)


def system_texts(body: Mapping[str, Any]) -> list[str]:
    """Return the texts of the system prompt."""
    system = body.get("system", [])
    if isinstance(system, str):
        return [system]
    parts = [read_object(item, f"system.{n}") for n, item in enumerate(check_kind(system, list, "system"))]
    return [read_member(part, "text", str, f"system.{n}") for n, part in enumerate(parts)]


def count_tokens(*values: object) -> int:
    """Return a plausible count: a token for every four characters of JSON, at least one."""
    return max(1, sum(len(json.dumps(value, ensure_ascii=False)) for value in values if value) // 4)


def _check_tools(tools: Sequence[object]) -> set[str]:
    names: set[str] = set()
    deferred = 0
    for n, item in enumerate(tools):
        where = f"tools.{n}"
        tool = read_object(item, where)
        name = read_member(tool, "name", str, where)
        if not TOOL_NAME.match(name):
            raise InvalidRequestError(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if name in names:
            raise InvalidRequestError("tools: Tool names must be unique.")
        names.add(name)
        deferred += read_member(tool, "defer_loading", bool, where, False)
        if "type" not in tool or tool["type"] == "custom":
            schema = read_member(tool, "input_schema", dict, where)
            if schema.get("type") != "object":
                raise InvalidRequestError(f"{where}.input_schema.type: Input should be 'object'")
    if tools and deferred == len(tools):
        raise InvalidRequestError("At least one tool must be non-deferred: all tools have defer_loading set.")
    return names


def _check_references(messages: Sequence[Message], tools: Collection[str]) -> None:
    for block in (block for message in messages for block in list_blocks(message) if block.get("type") == "tool_result"):
        for part in block["content"] if isinstance(block.get("content"), list) else ():
            if part["type"] == "tool_reference" and read_member(part, "tool_name", str, "tool_reference") not in tools:
                raise InvalidRequestError(f"Tool reference '{part['tool_name']}' has no corresponding tool definition")


def _check_roles(messages: Sequence[Message]) -> None:
    if not messages:
        raise InvalidRequestError("messages: at least one message is required")
    for n, message in enumerate(messages):
        role = read_member(message, "role", str, f"messages.{n}")
        if role not in ("user", "assistant"):
            raise InvalidRequestError(f"messages.{n}.role: Input should be 'user' or 'assistant'")
        before = messages[n - 1] if n else {"role": "assistant"}
        if role == before["role"] and not (n and _is_paused(before)):
            raise InvalidRequestError(
                f'messages.{n}: roles must alternate between "user" and "assistant", beginning with "user"'
            )
    if messages[-1]["role"] != "user" and not _is_paused(messages[-1]):
        raise InvalidRequestError(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _is_paused(message: Message) -> bool:
    """Say whether a turn ends with a tool of the service itself, which may go on in the next request."""
    blocks = list_blocks(message)
    return message["role"] == "assistant" and bool(blocks) and blocks[-1].get("type") in PAUSED


def _check_thinking(block: Mapping[str, Any], where: str) -> None:
    thinking, signature = read_member(block, "thinking", str, where), read_member(block, "signature", str, where)
    if signature.startswith(SIGNATURE) and signature != sign(thinking):
        raise InvalidRequestError(f"{where}: Invalid `signature` in `thinking` block")


def _check_blocks(messages: Sequence[Message]) -> None:
    for n, message in enumerate(messages):
        if "content" not in message:
            raise InvalidRequestError(f"messages.{n}.content: Field required")
        if not isinstance(message["content"], str):
            check_kind(message["content"], list, f"messages.{n}.content")
        if not message["content"]:
            raise InvalidRequestError(f"messages.{n}: all messages must have non-empty content")
        for at, block in enumerate(list_blocks(message)):
            where = f"messages.{n}.content.{at}"
            kind = read_member(read_object(block, where), "type", str, where)
            if kind == "text" and not read_member(block, "text", str, where):
                raise InvalidRequestError("messages: text content blocks must be non-empty")
            if kind == "thinking":
                _check_thinking(block, where)
            if kind == "tool_use":
                read_member(block, "id", str, where)
                read_member(block, "input", dict, where)
                read_member(block, "name", str, where)
            if kind == "tool_result":
                read_member(block, "tool_use_id", str, where)
                _check_result(block.get("content", ""), where)


def _check_result(content: object, where: str) -> None:
    if isinstance(content, str):
        return
    for n, part in enumerate(check_kind(content, list, f"{where}.content")):
        inner = read_object(part, f"{where}.content.{n}")
        if read_member(inner, "type", str, f"{where}.content.{n}") == "text":
            read_member(inner, "text", str, f"{where}.content.{n}")


def _check_pairs(messages: Sequence[Message]) -> None:
    uses: list[str] = []
    for n, message in enumerate(messages):
        results = [block["tool_use_id"] for block in list_blocks(message) if block["type"] == "tool_result"]
        if missing := [use for use in uses if use not in results]:
            raise InvalidRequestError(
                f"messages.{n - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
                "message."
            )
        if stray := [use for use in results if use not in uses]:
            raise InvalidRequestError(
                f"messages.{n}: unexpected `tool_use_id` found in `tool_result` blocks: {stray[0]}. Each `tool_result` "
                "block must have a corresponding `tool_use` block in the previous message."
            )
        if len(set(results)) < len(results):
            raise InvalidRequestError(
                f"messages.{n}: each tool_use must have a single result. Found multiple `tool_result` blocks."
            )
        if any(block["type"] != "tool_result" for block in list_blocks(message)[: len(results)]):
            raise InvalidRequestError(f"messages.{n}: `tool_result` blocks must come first in the content of a message.")
        uses = [block["id"] for block in list_blocks(message) if block["type"] == "tool_use"]
        if len(set(uses)) < len(uses):
            raise InvalidRequestError(f"messages.{n}: `tool_use` ids must be unique")


def _shorten(text: str) -> str:
    return text if len(text) <= 300 else text[:300] + "…"
