"""Patterns: the regular expressions of schemas, matched in linear time (ReDoS protection).

RE2 has no backreferences and does not look ahead or behind, so that its time grows with the length of the text alone. It is
Google's own, released often, and a wheel for each Python and system that this runs on.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]  # it has no types

CHARACTERS_MAX = 500
MEMORY_MAX = 1_048_576
"""Bytes of a pattern, prepared: the number of repetitions that it may count is bounded by them."""

_STEP = 5_000
"""So many characters, each at so many places of the pattern, are about as much work as one step of a validation."""

# JSON Schema's expressions are those of ECMA-262, which writes a character by its number in another way
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|.)", re.DOTALL)
_OPTIONS = re2.Options()
_OPTIONS.max_mem = MEMORY_MAX
_OPTIONS.log_errors = False


def is_known(pattern: str) -> bool:
    """Say whether values are held against `pattern`: it is short enough, and one that takes linear time."""
    return _compile(pattern) is not None


def matches(pattern: str, text: str) -> bool:
    """Say whether `pattern` occurs in `text`; one that is not known occurs everywhere."""
    compiled = _compile(pattern)
    return compiled is None or compiled.search(text) is not None


def count_steps(pattern: str, text: str) -> int:
    """Return how many steps of a validation holding `text` against `pattern` takes."""
    compiled = _compile(pattern)
    return 0 if compiled is None else len(text) * compiled.programsize // _STEP


@lru_cache(maxsize=128)
def _compile(pattern: str) -> Any:
    if len(pattern) > CHARACTERS_MAX:
        return None
    try:
        return re2.compile(_ESCAPE.sub(_translate, pattern), _OPTIONS)
    except (re2.error, UnicodeEncodeError):
        return None


def _translate(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    # half a character, which ECMA-262 may match and RE2 does not, stays an escape that RE2 does not know
    is_unchanged = number is None or int(number, 16) in range(0xD800, 0xE000)
    return match[0] if is_unchanged else rf"\x{{{number}}}"
