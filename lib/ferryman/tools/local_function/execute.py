"""The executor of local functions: keys stripped, values clamped, a time limit, and always a text (S2-28 … S2-48).

How long a call may take, and to what its arguments are cut, is in its tool's entry of the catalog. In the process that runs
it, nothing else turns a call of the model into an effect (S2-2 … S2-4).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.calls.refusal import ERROR, INVALID_ARGUMENTS, CallRefusedError
from ferryman.domain.calls.suggestion import FUNCTION_FAILED
from ferryman.domain.key_shapes import redact_shapes
from ferryman.tools.local_function.arguments import fit_arguments
from ferryman.tools.local_function.registry import TOOL_REGISTRY
from ferryman.tools.own_arguments import read_own_arguments

ERROR_CHARACTERS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model reads of a call; `code` names the failure in lower case, None where the tool did what it was asked."""

    content: str = field(repr=False)
    code: str | None = None


class LocalFunctionError(Exception):
    """A local function cannot do what it was asked. The model reads `Error: ` and the text, which is the tool's own."""

    def __init__(self, text: str, *, code: str = FUNCTION_FAILED) -> None:
        self.code = code
        super().__init__(text)


async def execute(tool_call: ToolCall, user_id: UUID, db: Any) -> str:
    """Execute one call, and return its result, or a sentence that says what went wrong (S2-43), as `answer` does."""
    return (await answer(tool_call, user_id, db)).content


async def answer(tool_call: ToolCall, user_id: UUID, db: Any, *, within_s: float = math.inf) -> Answer:
    """Execute one call, in `within_s` seconds where its tool allows more, and return what the model reads of it.

    Only a cancellation passes; a TimeoutError that the tool raises itself is reported like any other error (S2-44). What an
    error says is cut, and anything in it that has the form of a key is left out (S2-39).
    `db` is what the tools of this process read and write: None where they need no store.
    """
    name = tool_call.name
    function = TOOL_REGISTRY.get(name)
    if function is None:
        return Answer(f"{ERROR}Unknown tool '{name}'", "unknown_tool")
    policy = find_tool(name).policy
    timeout_s = within_s if policy.timeout_s is None else min(policy.timeout_s, within_s)
    envelope = asyncio.timeout(timeout_s)
    try:
        async with envelope:
            arguments = fit_arguments(find_tool(name), read_own_arguments(policy, tool_call.arguments))
            return Answer(await function(**arguments, user_id=str(user_id), db=db))
    except CallRefusedError as refused:
        return Answer(refused.refusal.message, INVALID_ARGUMENTS)
    except LocalFunctionError as error:
        return Answer(f"{ERROR}{_describe(error)}", error.code)
    except Exception as error:  # noqa: BLE001 - the conversation stays alive, whatever a tool does (S2-43)
        if envelope.expired():
            return Answer(f"{ERROR}Tool '{name}' timed out after {timeout_s:g} seconds", "timed_out")
        return Answer(f"Error executing {name}: {_describe(error)}", FUNCTION_FAILED)


async def run(tool_calls: Sequence[ToolCall], user_id: UUID, db: Any) -> list[dict[str, str]]:
    """Execute the calls one after the other, and return a block of three keys for each, in their order (S2-45 … S2-48)."""
    return [{"type": "tool_result", "tool_use_id": call.id, "content": await execute(call, user_id, db)} for call in tool_calls]


def _describe(error: Exception) -> str:
    # cut before the search, which bounds its time, and after it, so that no key is cut in two unseen
    return redact_shapes(str(error)[: 10 * ERROR_CHARACTERS_MAX])[:ERROR_CHARACTERS_MAX]
