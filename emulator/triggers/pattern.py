"""Which documents a trigger is for."""

import re

WILDCARD = re.compile(r"\{[^{}/=]+(?:=(\*\*|\*))?\}|(\*\*|\*)")
"""`{name}`, `{name=*}` and `*` stand for one segment of a path; `{name=**}` and `**` for one or more."""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return what matches the paths of a pattern such as `executions/{execution}` or `tasks/{path=**}`.

    Raise ValueError where a wildcard is not a whole segment, or the pattern is not one of paths.
    """
    segments = pattern.split("/")
    if not all(segments):
        raise ValueError(f"the document pattern {pattern!r} is not a path without slashes at its ends")
    return re.compile("/".join(_segment(segment, pattern) for segment in segments), re.DOTALL)


def _segment(segment: str, pattern: str) -> str:
    wildcard = WILDCARD.fullmatch(segment)
    if wildcard:
        return ".+" if "**" in wildcard.groups() else "[^/]+"
    if re.search(r"[{}*]", segment):
        raise ValueError(f"the document pattern {pattern!r} has a wildcard that is not a whole segment")
    return re.escape(segment)
