"""Resources, prompts and completion."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ferryman.serving.mcp import Complete, ErrorCode, InputRequired, McpError, McpExchange, Result, paginate, refuse_params

from .asking import elicit, read_form
from .content import IMAGE, PNG, text
from .tools import Fixtures

TTL_MS = 60_000
RESOURCES = (
    {"uri": "test://static-binary", "name": "static-binary", "description": "A picture", "mimeType": "image/png"},
    {"uri": "test://static-text", "name": "static-text", "description": "A text", "mimeType": "text/plain"},
    {"uri": "test://watched-resource", "name": "watched", "description": "A text that is watched", "mimeType": "text/plain"},
)
TEMPLATE = {
    "uriTemplate": "test://template/{id}/data",
    "name": "template",
    "description": "Data",
    "mimeType": "application/json",
}
_DATA = re.compile(r"test://template/([\w-]{1,64})/data")


async def list_resources(_: Fixtures, exchange: McpExchange) -> Result:
    page, more = paginate(exchange, RESOURCES, lambda resource: resource["uri"])
    return Complete({"resources": page, **more}, ttl_ms=TTL_MS, scope="public")


async def list_templates(_: Fixtures, exchange: McpExchange) -> Result:
    page, more = paginate(exchange, [TEMPLATE], lambda template: template["uriTemplate"])
    return Complete({"resourceTemplates": page, **more}, ttl_ms=TTL_MS, scope="public")


async def read_resource(_: Fixtures, exchange: McpExchange) -> Result:
    uri = exchange.get_text("uri")
    contents = _read(uri)
    if contents is None:
        raise McpError(ErrorCode.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return Complete({"contents": [{"uri": uri, **contents}]}, ttl_ms=TTL_MS, scope="public")


def _read(uri: str) -> dict[str, Any] | None:
    if uri == "test://static-binary":
        return {"mimeType": "image/png", "blob": PNG}
    if uri == "test://static-text":
        return {"mimeType": "text/plain", "text": "This is the content of the static text resource."}
    if uri == "test://watched-resource":
        return {"mimeType": "text/plain", "text": "This is the content of the watched resource."}
    matched = _DATA.fullmatch(uri)
    if matched is None:
        return None
    data = {"id": matched[1], "templateTest": True, "data": f"Data for ID: {matched[1]}"}
    return {"mimeType": "application/json", "text": json.dumps(data)}


async def subscribe(deps: Fixtures, exchange: McpExchange) -> Result:
    deps.process.subscribed.add((exchange.session, exchange.get_text("uri")))
    return Complete()


async def unsubscribe(deps: Fixtures, exchange: McpExchange) -> Result:
    deps.process.subscribed.discard((exchange.session, exchange.get_text("uri")))
    return Complete()


async def set_level(deps: Fixtures, exchange: McpExchange) -> Result:
    deps.process.levels[exchange.session] = exchange.get_text("level")
    return Complete()


def _describe(name: str, description: str, *arguments: str) -> dict[str, Any]:
    listed = [{"name": argument, "description": f"The argument {argument}", "required": True} for argument in arguments]
    return {"name": name, "description": description, **({"arguments": listed} if listed else {})}


PROMPTS = (
    _describe("test_simple_prompt", "A prompt without arguments"),
    _describe("test_prompt_with_arguments", "A prompt with two arguments", "arg1", "arg2"),
    _describe("test_prompt_with_embedded_resource", "A prompt that embeds a resource", "resourceUri"),
    _describe("test_prompt_with_image", "A prompt with a picture"),
    _describe("test_input_required_result_prompt", "A prompt that asks first"),
)


async def list_prompts(_: Fixtures, exchange: McpExchange) -> Result:
    page, more = paginate(exchange, PROMPTS, lambda prompt: prompt["name"])
    return Complete({"prompts": page, **more}, ttl_ms=TTL_MS, scope="public")


async def get_prompt(_: Fixtures, exchange: McpExchange) -> Result:
    arguments = exchange.get_object("arguments")
    match exchange.get_text("name"):
        case "test_simple_prompt":
            return _answer(text("This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            first, second = _read_argument(arguments, "arg1"), _read_argument(arguments, "arg2")
            return _answer(text(f"Prompt with arguments: arg1='{first}', arg2='{second}'"))
        case "test_prompt_with_embedded_resource":
            uri = _read_argument(arguments, "resourceUri")
            resource = {"uri": uri, "mimeType": "text/plain", "text": "Embedded resource content for testing."}
            return _answer({"type": "resource", "resource": resource}, text("Please process the embedded resource above."))
        case "test_prompt_with_image":
            return _answer(IMAGE, text("Please analyze the image above."))
        case "test_input_required_result_prompt":
            context = read_form(exchange, "user_context", "context", str)
            if context is None:
                return InputRequired(
                    {"user_context": elicit("What context should the prompt use?", context={"type": "string"})}
                )
            return _answer(text(f"Use this context: {context}"))
        case _:
            raise refuse_params("Unknown prompt")


def _read_argument(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str):
        raise refuse_params(f"the argument {name} must be a text")
    return value


def _answer(*content: Mapping[str, Any]) -> Complete:
    return Complete({"messages": [{"role": "user", "content": part} for part in content]})


async def complete(_: Fixtures, exchange: McpExchange) -> Result:
    value = exchange.get_object("argument").get("value", "")
    values = [word for word in ("paris", "park", "party") if isinstance(value, str) and word.startswith(value)]
    return Complete({"completion": {"values": values, "total": len(values), "hasMore": False}})
