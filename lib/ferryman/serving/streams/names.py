"""Names of what a stream consists of: by its place, since a model may give two of its calls the same id."""

from __future__ import annotations


def write_message_id(execution: str, iteration: int) -> str:
    """Return the id of the message of a turn."""
    return f"{execution}.{iteration}"


def write_call_id(execution: str, iteration: int, call: int) -> str:
    """Return the id of call `call` of a turn, counted from 0."""
    return f"{execution}.{iteration}.{call}"
