"""Globs: patterns of keys, matched in linear time by RE2 (ReDoS protection)."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import re2  # type: ignore[import-untyped]  # it has no types

from ferryman.tools.files.file_call import refuse

GLOB_CHARACTERS_MAX = 500
INSTRUCTIONS_MAX = 1_000
"""Of a compiled pattern: RE2 may try each of them at every byte of a key."""

QUICK_INSTRUCTIONS = 64
"""Up to so many, a key is compared in microseconds."""

OPTIONS = re2.Options()
OPTIONS.max_mem = 1_048_576
OPTIONS.log_errors = False

_WILD = re.compile(r"\*\*/|\*\*|\*|\?|\[(?:!?[^\]/]{1,64})\]")


class Glob:
    """A pattern: `*` is anything but `/`, `**` also slashes, `?` one character, `[abc]` or `[!a-c]` one of some."""

    def __init__(self, text: str) -> None:
        """Raise `LocalFunctionError` for a pattern that is too long, or has a range that is none."""
        normal = unicodedata.normalize("NFC", text.replace("\\", "/")).lstrip("/")
        if not 1 <= len(normal) <= GLOB_CHARACTERS_MAX:
            raise refuse("pattern", f"must have 1 to {GLOB_CHARACTERS_MAX} characters")
        try:
            self._expression: Any = re2.compile(_translate(normal), OPTIONS)
        except (re2.error, UnicodeEncodeError):
            raise refuse("pattern", "must be a pattern of keys, as in notes/**/*.md") from None
        if self._expression.programsize > INSTRUCTIONS_MAX:
            raise refuse("pattern", "has too many wildcards, or too long ones")
        wild = _WILD.search(normal)
        self.prefix = normal if wild is None else normal[: wild.start()]
        """How all keys begin that it matches."""

    @property
    def is_quick(self) -> bool:
        """Whether keys may be compared on the event loop."""
        return bool(self._expression.programsize <= QUICK_INSTRUCTIONS)

    def matches(self, key: str) -> bool:
        """Tell whether the pattern matches the whole of a key."""
        return self._expression.fullmatch(key) is not None


def _translate(text: str) -> str:
    parts, at = list[str](), 0
    for wild in _WILD.finditer(text):
        parts += [re2.escape(text[at : wild.start()]), _WORDS.get(wild[0]) or _translate_range(wild[0])]
        at = wild.end()
    return "(?s)" + "".join([*parts, re2.escape(text[at:])])


_WORDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _translate_range(text: str) -> str:
    negation, characters = ("^/", text[2:-1]) if text.startswith("[!") else ("", text[1:-1])
    return f"[{negation}{re.sub(r'[^A-Za-z0-9-]', lambda match: re2.escape(match[0]), characters)}]"
