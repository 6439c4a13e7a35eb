"""The line that a person types: with a history that the arrow keys go through, where the terminal's library has one."""

from __future__ import annotations

import signal
from contextlib import suppress

PROMPT = "you> "
MORE = "\\"
"""At the end of a line: the message goes on in the next one."""


def read_line() -> str | None:
    """Return what was typed, None at the end of the input; a line that ends with a backslash goes on."""
    with suppress(ImportError):  # it edits what `input` reads, and keeps the history of this process alone
        import readline  # noqa: F401
    lines: list[str] = []
    while True:
        try:
            line = _read("...> " if lines else PROMPT)
        except (EOFError, KeyboardInterrupt):
            return None
        lines.append(line.removesuffix(MORE))
        if not line.endswith(MORE):
            return "\n".join(lines).strip()


def read_answer(prompt: str) -> str | None:
    """Return the line that answers a question, None where nothing was typed."""
    try:
        return _read(prompt).strip() or None
    except (EOFError, KeyboardInterrupt):
        return None


def _read(prompt: str) -> str:
    """Return one line. An interrupt ends the reading itself: the handler of the event loop would wait for the line."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(prompt)
    finally:
        signal.signal(signal.SIGINT, before)
