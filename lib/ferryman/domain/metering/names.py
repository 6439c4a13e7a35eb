"""Names: what usage is told of by. None is a text that a model or an upstream wrote."""

from __future__ import annotations

from collections.abc import Collection

from ferryman.domain.calls.suggestion import SUGGESTIONS

OTHER = "(other)"
"""What has no name of its own: tools, models and agents beyond the bound of a day, and codes that are not counted apart."""
TEXT = "(text)"
"""Tokens that no tool's definition, call or result was: instructions, the user's input, and what the model says and thinks."""
UNCALLED = "(not called)"
"""The definitions of tools that the model was shown, and that the execution has not called so far."""
UNKNOWN = "(unknown)"
"""A tool that the task does not have: a model may have written anything there. No tool has a name with parentheses."""

CODES = frozenset((*SUGGESTIONS, "internal_server_error", "bad_gateway", "service_unavailable", "gateway_timeout"))
"""The codes of failures that are counted apart."""


def name_tool(name: str, enabled: Collection[str]) -> str:
    """Return the name of a tool that the task has enabled, `UNKNOWN` for any other."""
    return name if name in enabled else UNKNOWN


def name_code(code: str | None) -> str:
    """Return a failure's code where it is counted apart, `OTHER` for any other."""
    return code if code in CODES else OTHER
