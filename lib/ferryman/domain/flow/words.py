"""The words of names: of tools, of arguments and of fields, in any of the usual spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

NAME_CHARACTERS_MAX = 200
"""How much of a name is read: its author may be a stranger."""

DESCRIPTION_CHARACTERS_MAX = 2_000
"""How much of a description is read."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_LETTERS = re.compile(r"[A-Za-z]+")


def read_words(text: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(text.split())


def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: `file_id`, `fileId`, `file-id` and `FileID` have the same ones."""
    return tuple(word.lower() for word in _WORD.findall(name[:NAME_CHARACTERS_MAX]))


def list_description_words(description: str) -> Iterator[str]:
    """Yield the words of a description in lower case."""
    for match in _LETTERS.finditer(description[:DESCRIPTION_CHARACTERS_MAX]):
        yield match[0].lower()


def list_forms(word: str) -> tuple[str, ...]:
    """Return a word and what it may be without its ending: a verb in the third person, or a noun in the plural."""
    forms = [word]
    if word.endswith("ies"):
        forms.append(f"{word[:-3]}y")
    if word.endswith("es"):
        forms.append(word[:-2])
    if word.endswith("s") and not word.endswith("ss"):
        forms.append(word[:-1])
    return tuple(forms)


@lru_cache(maxsize=1_000)
def share_word(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Tell whether two names have a word in common, in the singular or in the plural."""
    forms = {form for word in words for form in list_forms(word)}
    return any(form in forms for other in others for form in list_forms(other))
