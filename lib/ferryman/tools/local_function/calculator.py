"""The tool `calculator`: an expression in, its value out."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.local_function.registry import register


async def calculator(*, expression: str, **_: Any) -> str:
    """Return the value of `expression`. Raise `LocalFunctionError`, which says why it has none."""
    from ferryman.tools.local_function.calculation.answer import compute
    from ferryman.tools.local_function.calculation.errors import CalculationError

    most = find_tool("calculator").policy.argument_characters_max
    if most is not None and len(expression) >= most:  # it was cut: its value would be another's
        raise _explain(f"at most {most - 1} characters can be calculated")
    try:
        return await asyncio.to_thread(compute, expression, now=datetime.now(UTC))
    except CalculationError as error:
        raise _explain(str(error)) from None


def _explain(why: str) -> LocalFunctionError:
    return LocalFunctionError(f"expression: {why}", code="invalid_arguments")


register("calculator", calculator)
