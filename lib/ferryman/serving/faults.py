"""What is logged of an exception that nobody expected: its type, and where in our own code it was last."""

from __future__ import annotations

from traceback import walk_tb

OURS = "ferryman"


def describe_fault(error: BaseException) -> dict[str, str | None]:
    """Return the type of `error`, and the innermost place of ours, as module and line.

    Neither its words nor its arguments: they may repeat what was sent.
    """
    ours = [
        f"{frame.f_globals['__name__']}:{line}"
        for frame, line in walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == OURS
    ]
    return {"error": type(error).__name__, "at": ours[-1] if ours else None}
