"""The port of functions without keys: what is asked of them, and what they answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ferryman.domain.calls.keyless_answer import KeylessAnswer

AskFunction = Callable[[str, Mapping[str, Any]], Awaitable[KeylessAnswer]]
"""Has a function run a tool: takes the function's name and the body, returns the answer.

Raises `UnavailableError`, and `RejectedError` for an invalid answer.
"""
