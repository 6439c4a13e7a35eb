"""Texts made to cost a pattern as much as they can, of the characters that stand in it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from itertools import product
from re import _constants as codes  # type: ignore[attr-defined]  # the tree of a pattern is shown by no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

OF_CATEGORY = {
    codes.CATEGORY_DIGIT: ("0", r"\d"),
    codes.CATEGORY_NOT_DIGIT: ("a", r"\D"),
    codes.CATEGORY_SPACE: (" \n", r"\s"),
    codes.CATEGORY_NOT_SPACE: ("a", r"\S"),
    codes.CATEGORY_WORD: ("a_", r"\w"),
    codes.CATEGORY_NOT_WORD: ("- ", r"\W"),
}
"""Some of its characters, and how it is written."""

OTHERS = "a0 \n\t-_<\\é\0"
"""One of these is in every class that excludes some."""

REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
ENDINGS = ("", "\0", "\n")
"""After what is repeated: so that what matched may have to be given back."""

IN_CLASS_MAX = 4
MIXTURES = 100


class Text(NamedTuple):
    """`before`, then `repeated` up to the size that it is called with, then `after`."""

    before: str
    repeated: str
    after: str = ""

    def __call__(self, size: int) -> str:
        """Return so many characters of it."""
        times = -(-max(0, size - len(self.before) - len(self.after)) // len(self.repeated))
        return self.before + self.repeated * times + self.after

    def __repr__(self) -> str:
        return f"{self.before!r} + {self.repeated!r} * n + {self.after!r}"


def tree_of(pattern: re.Pattern[Any]) -> Any:
    """Return the parsed form of `pattern`."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    return parser.parse(text, pattern.flags & ~re.UNICODE)


def characters(pattern: re.Pattern[Any]) -> list[str]:
    """Return the literal characters of `pattern`, and some of each of its classes, each once."""
    texts = {text: None for node in _nodes(tree_of(pattern)) for text in _list_matched(node)}
    return list(texts)


def texts(pattern: re.Pattern[Any], mixtures: int = MIXTURES) -> Iterator[Callable[[int], str]]:
    """Yield makers of texts of a given size: each character repeated, every pair of them, what leads to each repetition, and
    mixtures of characters and words, the same in every run."""
    alphabet = characters(pattern)
    yield from (Text("", first) for first in alphabet)
    for first, other in product(alphabet, alphabet):
        if first != other:
            yield Text("", first + other)
            yield _Halves(first, other)
    for before, repeated in _pumps(tree_of(pattern), ""):
        for after in ENDINGS:
            yield Text(before, repeated, after)
        yield Text("", before + repeated * 2)
    words = [*alphabet, *_words(tree_of(pattern))]
    dice = random.Random(ascii(pattern.pattern))
    for _ in range(mixtures if words else 0):
        yield Text(*("".join(dice.choices(words, k=dice.randint(least, 4))) for least in (0, 1, 0)))


class _Halves(NamedTuple):
    first: str
    other: str

    def __call__(self, size: int) -> str:
        return self.first * (size // 2) + self.other * (size // 2)

    def __repr__(self) -> str:
        return f"{self.first!r} * n + {self.other!r} * n"


def _nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    for op, argument in tree:
        yield op, argument
        for inner in _inner(op, argument):
            yield from _nodes(inner)


def _words(tree: Any) -> Iterator[str]:
    """Yield the literal characters of `tree` that follow each other."""
    word = ""
    for op, argument in tree:
        if op is codes.LITERAL:
            word += chr(argument)
            continue
        if len(word) > 1:
            yield word
        word = ""
        for inner in _inner(op, argument):
            yield from _words(inner)
    if len(word) > 1:
        yield word


def _inner(op: Any, argument: Any) -> list[Any]:
    if op in REPEATS:
        return [argument[2]]
    if op is codes.BRANCH:
        return list(argument[1])
    if op is codes.SUBPATTERN:
        return [argument[3]]
    if op in (codes.ASSERT, codes.ASSERT_NOT):
        return [argument[1]]
    if op is codes.ATOMIC_GROUP:
        return [argument]
    if op is codes.GROUPREF_EXISTS:
        return [text for text in argument[1:] if text is not None]
    return []


def _list_matched(node: tuple[Any, Any]) -> list[str]:
    """Return characters that `node` matches, where it is one that matches a single one."""
    op, argument = node
    if op is codes.LITERAL:
        return [chr(argument)]
    if op is codes.NOT_LITERAL:
        return [next(other for other in OTHERS if ord(other) != argument), chr(argument)]
    if op is codes.ANY:
        return ["a"]
    if op is codes.IN:
        return _of_class(argument)
    return []


def _of_class(items: list[tuple[Any, Any]]) -> list[str]:
    """Return characters of a class; of one that excludes some also two of those, behind the others."""
    texts: list[str] = []
    for op, argument in items:
        if op is codes.LITERAL:
            texts.append(chr(argument))
        elif op is codes.RANGE:
            texts += [chr(argument[0]), chr(argument[1])]
        elif op is codes.CATEGORY:
            texts += OF_CATEGORY[argument][0]
    if items[0][0] is codes.NEGATE:
        others = [other for other in OTHERS if not any(_is_in(other, item) for item in items)]
        return others[:3] + texts[:2]
    if len(texts) > IN_CLASS_MAX:
        return [texts[index * (len(texts) - 1) // (IN_CLASS_MAX - 1)] for index in range(IN_CLASS_MAX)]
    return texts


def _is_in(character: str, item: tuple[Any, Any]) -> bool:
    op, argument = item
    if op is codes.LITERAL:
        return ord(character) == argument
    if op is codes.RANGE:
        return bool(argument[0] <= ord(character) <= argument[1])
    return op is codes.CATEGORY and re.fullmatch(OF_CATEGORY[argument][1], character) is not None


def _pumps(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield for each repetition in `tree`: a text that leads to it, and one that it repeats."""
    for op, argument in tree:
        if op in REPEATS and argument[1] > 1:
            repeated = sample(argument[2])
            if repeated:
                yield before, repeated
        for inner in _inner(op, argument):
            yield from _pumps(inner, before)
        before += sample([(op, argument)])


def sample(tree: Any) -> str:
    """Return a short text that `tree` matches, as far as that can be told without trying."""
    texts = ""
    for op, argument in tree:
        if op in REPEATS:
            texts += sample(argument[2]) * argument[0]
        elif op is codes.BRANCH:
            texts += sample(argument[1][0])
        elif op is codes.SUBPATTERN:
            texts += sample(argument[3])
        elif op is codes.ATOMIC_GROUP:
            texts += sample(argument)
        elif op is codes.IN and argument[0][0] is codes.NEGATE:
            texts += _of_class(argument)[0]
        else:
            texts += "".join(_list_matched((op, argument))[:1])
    return texts
