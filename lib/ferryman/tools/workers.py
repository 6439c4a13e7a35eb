"""Workers: parse the arguments of the model in another process, within a budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ferryman import offload
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError

Answer = TypeVar("Answer")


async def run_argument_worker(owner: str, tool: str, function: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
    """Run `function(*arguments, **named)`, which parses the arguments of a call of `tool`, in a worker and return its value.

    Raise `CallRefusedError`, also where it takes more than its budget.
    """
    try:
        return await offload.run(owner, offload.TEXT, function, *arguments, **named)
    except (offload.OverBudgetError, offload.TooManyJobsError) as error:
        raise CallRefusedError(refusal.refuse_wrong_argument(tool, "arguments", f"simple enough to be read; {error}")) from None
