"""Argument validation: the check of a call's arguments before anything is done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from ferryman import offload
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import INVALID_ARGUMENTS, CallRefusedError
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.json_tree import walk
from ferryman.domain.tools.tool import Tool

Answer = TypeVar("Answer")

SMALL_VALUES, SMALL_CHARACTERS = 256, 4_096
"""Arguments of at most so many values, and characters in them, are parsed on the event loop, in less than a millisecond at
the worst: our own tools' schemas have no patterns. A worker would cost every ordinary call about as much."""


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raise `CallRefusedError` for arguments that do not fit the tool's schema, naming the field and never its content."""
    # it imports the library of schemas, which is not needed where tools are only described
    from ferryman.declared.arguments import check_depth, check_schema

    check_depth(tool.name, arguments)
    check_schema(tool.name, tool.schema, arguments)


def build_request(tool: Tool, method: Method, arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request that the arguments of the call describe. Raise `CallRefusedError` where they do not fit the schema."""
    check_arguments(tool, arguments)
    unsent = {"method"} if method in (Method.POST, Method.PUT) else {"method", "body"}  # S0-17
    fields = {name: arguments[name] for name in tool.schema["properties"] if name in arguments and name not in unsent}
    return OutboundRequest(tool=tool.name, method=method, **fields)


def parse_method(tool: Tool, arguments: Mapping[str, Any], allowed: tuple[Method, ...]) -> Method:
    """Return the HTTP method of the call, written in any case. Raise `CallRefusedError` for one not `allowed` (S0-13)."""
    name = arguments.get("method")
    if name is None:
        raise CallRefusedError(refusal.refuse_missing_argument(tool.name, "method"))
    if not isinstance(name, str):
        raise CallRefusedError(refusal.refuse_wrong_argument(tool.name, "method", "a string"))
    parsed = next((method for method in allowed if method.value == name.upper()), None)
    if parsed is None:
        raise CallRefusedError(refusal.refuse_method(tool.name, name, (method.value for method in allowed)))
    return parsed


async def parse_builtin(
    owner: str, tool: str, parser: Callable[[Mapping[str, Any]], OutboundRequest], arguments: Mapping[str, Any]
) -> OutboundRequest:
    """Return the request of a call of a built-in tool; only small arguments are read here. Raise `CallRefusedError`."""
    return parser(arguments) if is_small(arguments) else await run_argument_worker(owner, tool, parser, arguments)


def is_small(arguments: Mapping[str, Any]) -> bool:
    """Say whether the arguments, and all that is in them, take a bounded time to read; what is asked here is bounded too."""
    characters = 0
    for count, (path, value) in enumerate(walk(arguments)):
        characters += sum(len(part) for part in (value, *path[-1:]) if isinstance(part, str))
        if count > SMALL_VALUES or characters > SMALL_CHARACTERS or (isinstance(value, int) and value.bit_length() > 64):
            return False
    return True


@contextmanager
def rendering_errors() -> Iterator[None]:
    """Raise errors of arguments as an object with `error`, `code` and `suggestion`, for tools that report them so (S3-72)."""
    try:
        yield
    except CallRefusedError as refused:
        raise CallRefusedError(replace(refused.refusal, as_object=refused.refusal.reason == INVALID_ARGUMENTS)) from None


async def run_argument_worker(owner: str, tool: str, function: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
    """Run `function(*arguments, **named)`, which parses the arguments of a call of `tool`, in a worker and return its value.

    Raise `CallRefusedError`, also where it takes more than its budget.
    """
    try:
        return await offload.run(owner, offload.TEXT, function, *arguments, **named)
    except (offload.OverBudgetError, offload.TooManyJobsError) as error:
        raise CallRefusedError(refusal.refuse_wrong_argument(tool, "arguments", f"simple enough to be read; {error}")) from None
