"""Scripts: what the model will say, turn by turn, and what it expects to be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from emulator.messages.pacing import Pace, read_pace
from emulator.reading import InvalidRequestError, read_member, read_object, read_strings, refuse_unknown

STOP_REASONS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn")

SIGNATURE = "scripted-"
"""How the signatures begin that this service makes, and so can check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A tool the model asks for."""

    id: str
    name: str
    input: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What must hold of a request: parts of its last message and system prompt, and exactly these tools."""

    last_contains: tuple[str, ...] = ()
    system_contains: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error the service answers the first `times` times that a step is asked for; seconds in `retry_after_s`."""

    status: int
    type: str
    message: str
    retry_after_s: float | None
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    """One turn of the model: `blocks` of any type, then a text and the tools it asks for.

    Usage that is None is counted from the texts. Without a `pace`, a reply is streamed at once.
    """

    blocks: tuple[Mapping[str, Any], ...] = ()
    text: str
    uses: tuple[Use, ...]
    stop_reason: str
    input_tokens: int | None
    output_tokens: int | None
    expect: Expect
    failure: Failure | None
    pace: Pace | None = None


def sign(thinking: str) -> str:
    """Return the signature of a thinking block, by which the service knows it again."""
    return SIGNATURE + sha256(thinking.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a request is in a script: `turn` counts the messages of the model, `step` those since a person said something."""

    turn: int
    step: int


def locate_request(messages: Sequence[Mapping[str, Any]]) -> Place:
    """Return where a request with these messages is; results of tools are nothing that a person says."""
    turn = step = 0
    for message in messages:
        if message["role"] == "assistant":
            turn, step = turn + 1, step + 1
        elif not _holds_results(message.get("content")):
            step = 0
    return Place(turn=turn, step=step)


def begins_again(value: object) -> bool:
    """Tell whether a script, as JSON, begins again with every message of a person."""
    return bool(read_member(read_object(value, "script"), "each_question", bool, "script", False))


def read_roles(value: object) -> Mapping[str, str]:
    """Return the names of other scripts by texts: a request with such a text in its system prompt is answered from that one."""
    roles = read_member(read_object(value, "script"), "roles", dict, "script", {})
    if any(not isinstance(name, str) for name in roles.values()):
        raise InvalidRequestError("script.roles must name scripts")
    return dict(roles)


def repeat_step(step: ScriptStep, turn: int) -> ScriptStep:
    """Return a step as it is in another turn: ids of calls are unique in a conversation."""
    uses = tuple(replace(use, id=f"{use.id}_{turn}") for use in step.uses)
    return replace(step, uses=uses)


def _holds_results(content: object) -> bool:
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and block.get("type") == "tool_result" for block in content
    )


def read_script(name: str, value: object) -> tuple[ScriptStep, ...]:
    """Return the steps of a script from JSON; raise InvalidRequestError."""
    source = read_object(value, "script")
    refuse_unknown(source, ["steps", "each_question", "roles"], "script")
    steps = read_member(source, "steps", list, "script")
    if not steps:
        raise InvalidRequestError("script.steps must not be empty")
    return tuple(_step(f"{name}/{n}", item, f"script.steps[{n}]") for n, item in enumerate(steps))


def _step(key: str, value: object, where: str) -> ScriptStep:
    source = read_object(value, where)
    refuse_unknown(source, ["blocks", "text", "tool_calls", "stop_reason", "usage", "expect", "error", "stream"], where)
    calls = read_member(source, "tool_calls", list, where, [])
    uses = tuple(_use(f"{key}/{n}", item, f"{where}.tool_calls[{n}]") for n, item in enumerate(calls))
    if len({use.id for use in uses}) < len(uses):
        raise InvalidRequestError(f"{where}.tool_calls has an id twice")
    stop_reason = read_member(source, "stop_reason", str, where, "tool_use" if uses else "end_turn")
    if stop_reason not in STOP_REASONS:
        raise InvalidRequestError(f"{where}.stop_reason must be one of {', '.join(STOP_REASONS)}")
    usage = read_member(source, "usage", dict, where, {})
    refuse_unknown(usage, ["input_tokens", "output_tokens"], f"{where}.usage")
    blocks = enumerate(read_member(source, "blocks", list, where, []))
    return ScriptStep(
        blocks=tuple(_block(item, f"{where}.blocks[{n}]") for n, item in blocks),
        text=read_member(source, "text", str, where, ""),
        uses=uses,
        stop_reason=stop_reason,
        input_tokens=read_member(usage, "input_tokens", int, f"{where}.usage", None),
        output_tokens=read_member(usage, "output_tokens", int, f"{where}.usage", None),
        expect=_expect(read_member(source, "expect", dict, where, {}), f"{where}.expect"),
        failure=_failure(source["error"], f"{where}.error") if "error" in source else None,
        pace=read_pace(source["stream"], f"{where}.stream") if "stream" in source else None,
    )


def _block(value: object, where: str) -> Mapping[str, Any]:
    block = read_object(value, where)
    if read_member(block, "type", str, where) == "thinking":
        return {**block, "signature": block.get("signature", sign(read_member(block, "thinking", str, where)))}
    return block


def _use(key: str, value: object, where: str) -> Use:
    source = read_object(value, where)
    refuse_unknown(source, ["id", "name", "input"], where)
    # The same request must get the same reply, so an id follows from its place.
    members = read_member(source, "id", str, where, "toolu_" + sha256(key.encode()).hexdigest()[:24])
    return Use(id=members, name=read_member(source, "name", str, where), input=read_member(source, "input", dict, where))


def _expect(source: Mapping[str, object], where: str) -> Expect:
    refuse_unknown(source, ["last_contains", "tools", "system_contains"], where)
    return Expect(
        last_contains=read_strings(source.get("last_contains", []), f"{where}.last_contains"),
        system_contains=read_strings(source.get("system_contains", []), f"{where}.system_contains"),
        tools=read_strings(source["tools"], f"{where}.tools") if "tools" in source else None,
    )


def _failure(value: object, where: str) -> Failure:
    source = read_object(value, where)
    refuse_unknown(source, ["status", "type", "message", "retry_after_s", "times"], where)
    status = read_member(source, "status", int, where)
    if not 400 <= status <= 599:
        raise InvalidRequestError(f"{where}.status must be 400 to 599, not {status}")
    times = read_member(source, "times", int, where, 1)
    if times < 1:
        raise InvalidRequestError(f"{where}.times must be at least 1, not {times}")
    return Failure(
        status=status,
        type=read_member(source, "type", str, where, "api_error"),
        message=read_member(source, "message", str, where, "scripted error"),
        retry_after_s=read_member(source, "retry_after_s", float, where, None),
        times=times,
    )
