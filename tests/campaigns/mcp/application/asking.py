"""Tools that need input of the client: by `input_required` in 2026, by a request of the server's in 2025."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman.serving.mcp import InputRequired, McpExchange, Result, refuse_params, sign_state, verify_state

from .content import answer
from .tools import Fixtures, FixtureTool, takes

_TEXT = {"type": "string"}


def elicit(message: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request for a form with these fields, all required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def sample(prompt: str, tokens: int = 100) -> dict[str, Any]:
    """Return a request for an answer of the client's model."""
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": tokens}}


ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}
NAME = {"user_name": elicit("What is your name?", name=_TEXT)}
CAPITAL = {"capital_question": sample("What is the capital of France?")}
EVERYTHING = {**NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
CAPABILITIES = {
    "elicitation/create": ("elicitation", "form"),
    "sampling/createMessage": ("sampling", ""),
    "roots/list": ("roots", ""),
}


def read_form(exchange: McpExchange, key: str, field: str, kind: type) -> Any:
    """Return a field of the form that the client filled in under `key`, None where it is not there or not of `kind`."""
    response = exchange.input_responses.get(key, {})
    content = response.get("content")
    value = content.get(field) if response.get("action") == "accept" and isinstance(content, Mapping) else None
    return value if isinstance(value, kind) else None


async def ask_name(_: Fixtures, exchange: McpExchange, __: Mapping[str, Any]) -> Result:
    name = read_form(exchange, "user_name", "name", str)
    return InputRequired(NAME) if name is None else answer(f"Hello, {name}!")


async def ask_capital(_: Fixtures, exchange: McpExchange, __: Mapping[str, Any]) -> Result:
    content = exchange.input_responses.get("capital_question", {}).get("content")
    if not isinstance(content, Mapping) or not isinstance(content.get("text"), str):
        return InputRequired(CAPITAL)
    return answer(f"The model says: {content['text']}")


async def ask_roots(_: Fixtures, exchange: McpExchange, __: Mapping[str, Any]) -> Result:
    roots = exchange.input_responses.get("client_roots", {}).get("roots")
    return answer(f"Roots: {json.dumps(roots)}") if isinstance(roots, list) else InputRequired({"client_roots": ROOTS})


def remember(deps: Fixtures, exchange: McpExchange, **value: Any) -> str:
    """Return a signed state."""
    return sign_state(exchange, value, keys=deps.keys, now=deps.tasks.clock.now())


def recall(deps: Fixtures, exchange: McpExchange) -> dict[str, Any] | None:
    """Return what a state says that the client sent back."""
    return verify_state(exchange, keys=deps.keys, now=deps.tasks.clock.now())


async def confirm(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    state = recall(deps, exchange)
    if state is not None and read_form(exchange, "confirm", "ok", bool) is not None:
        return answer("state-ok")
    asking = {"confirm": elicit("Please confirm", ok={"type": "boolean"})}
    return InputRequired(asking, remember(deps, exchange, step=1))


async def ask_everything(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    if recall(deps, exchange) is not None and EVERYTHING.keys() <= exchange.input_responses.keys():
        return answer(f"Received {', '.join(sorted(exchange.input_responses))}")
    return InputRequired(EVERYTHING, remember(deps, exchange, step=1))


async def ask_twice(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    state = recall(deps, exchange) or {"step": 0}
    name, color = read_form(exchange, "step1", "name", str), read_form(exchange, "step2", "color", str)
    if state["step"] == 2 and color is not None:
        return answer(f"{state['name']} likes {color}")
    if state["step"] == 1 and name is not None:
        asking = {"step2": elicit("Step 2: What is your favorite color?", color=_TEXT)}
        return InputRequired(asking, remember(deps, exchange, step=2, name=name))
    return InputRequired({"step1": elicit("Step 1: What is your name?", name=_TEXT)}, remember(deps, exchange, step=1))


async def ask_what_is_declared(_: Fixtures, exchange: McpExchange, __: Mapping[str, Any]) -> Result:
    if exchange.input_responses:
        return answer(f"Received {', '.join(sorted(exchange.input_responses))}")
    asking = {key: value for key, value in EVERYTHING.items() if exchange.declares(*CAPABILITIES[value["method"]])}
    return InputRequired(asking) if asking else answer("The client declares nothing that could be asked for.")


async def sample_old(deps: Fixtures, exchange: McpExchange, arguments: Mapping[str, Any]) -> Result:
    prompt = read_text(arguments, "prompt")
    if exchange.is_modern:
        return await ask_capital(deps, exchange, arguments)
    if not exchange.declares("sampling"):
        return answer("The client does not declare sampling.", is_error=True)
    result = await deps.process.ask(exchange, "sampling/createMessage", sample(prompt)["params"])
    return answer(f"LLM response: {result['content']['text']}")


async def elicit_old(deps: Fixtures, exchange: McpExchange, arguments: Mapping[str, Any]) -> Result:
    described = {
        "username": {**_TEXT, "description": "User's response"},
        "email": {**_TEXT, "description": "User's email address"},
    }
    return await ask_form(deps, exchange, elicit(read_text(arguments, "message"), **described), "User response")


async def elicit_defaults(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await ask_form(deps, exchange, elicit("Please review", **fields), "Elicitation completed")


async def elicit_choices(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"{name} Option"} for n, name in enumerate(("First", "Second", "Third"), 1)]
    names = ["Option One", "Option Two", "Option Three"]
    fields = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": names},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await ask_form(deps, exchange, elicit("Please choose", **fields), "Elicitation completed")


async def ask_form(deps: Fixtures, exchange: McpExchange, asking: Mapping[str, Any], label: str) -> Result:
    """Ask for a form, in the way of the client's revision, and tell what came back."""
    if not exchange.declares("elicitation", "form"):
        return answer("The client does not declare elicitation.", is_error=True)
    if exchange.is_modern:
        result = exchange.input_responses.get("form")
        if result is None:
            return InputRequired({"form": asking})
    else:
        params = {name: value for name, value in asking["params"].items() if name != "mode"}
        result = await deps.process.ask(exchange, "elicitation/create", params)
    return answer(f"{label}: action={result.get('action')}, content={json.dumps(result.get('content', {}))}")


def read_text(arguments: Mapping[str, Any], name: str) -> str:
    """Return an argument. Raise `McpError` with -32602 unless it is a text."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise refuse_params(f"{name} must be a text")
    return value


async def stream_question(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    await exchange.report_progress(1, 2)
    return await ask_name(deps, exchange, {})


TOOLS = (
    FixtureTool("test_input_required_result_elicitation", "Ask for a name", ask_name),
    FixtureTool("test_input_required_result_sampling", "Ask the client's model", ask_capital),
    FixtureTool("test_input_required_result_list_roots", "Ask for the client's roots", ask_roots),
    FixtureTool("test_input_required_result_request_state", "Ask with a state", confirm),
    FixtureTool("test_input_required_result_tampered_state", "Ask with a state that nobody may change", confirm),
    FixtureTool("test_input_required_result_multiple_inputs", "Ask for three things at once", ask_everything),
    FixtureTool("test_input_required_result_multi_round", "Ask twice", ask_twice),
    FixtureTool("test_input_required_result_capabilities", "Ask for what the client declares", ask_what_is_declared),
    FixtureTool("test_streaming_elicitation", "Ask for a name on a stream", stream_question),
    FixtureTool("test_sampling", "Ask the client's model", sample_old, takes(prompt=_TEXT)),
    FixtureTool("test_elicitation", "Ask for a form", elicit_old, takes(message=_TEXT)),
    FixtureTool("test_elicitation_sep1034_defaults", "Ask for a form with defaults", elicit_defaults),
    FixtureTool("test_elicitation_sep1330_enums", "Ask for a form with choices", elicit_choices),
)
