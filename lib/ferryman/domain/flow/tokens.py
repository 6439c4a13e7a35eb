"""Tokens of a text, as deciding arguments are compared: whole words, numbers, addresses and URLs, in linear time.

Two tokens are equal where their characters are (Unicode NFC). Case counts, but for words of letters alone, for e-mail
addresses, and for the scheme and host of a URL: people do not write a name as a service does. Compatibility characters and
look-alikes are other characters, to us as to the service that is sent them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

from ferryman.domain.flow.packed import pack_numbers, unpack_numbers

TEXT_CHARACTERS_MAX = 200_000
"""How much of a text is compared; what comes after it is as if it was not there."""

SEPARATOR = "\x00"
"""What is between two tokens: no token has it."""

_CHUNK = re.compile(r"[^\s\x00]+")
_OPENING = "([{<\"'`«“‘„‚#@*_~¿¡"
_CLOSING = ")]}>\"'`»”’.,;:!?…*_~"
_POSSESSIVE = ("'s", "’s")
_INNER = re.compile(r"[,;|](?=[^\d])|(?<=[^\W\d])[:=](?=[^/])|(?<=[^\W\d])[:=](?=/[^/])")
"""Where a chunk without a space is two: a list, or a name with its value."""

_RUN_ON = re.compile(r"([^\sA-Z/]+)\.([A-Z][a-z]*)")
"""An address with the next sentence, where the space between them is missing."""

_EMAIL = re.compile(r"[^\s@/:]{1,200}@[^\s@/:]{1,253}\.[^\s@/:]{1,63}")
_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{0,15}://|[Ww]{3}\.)")


class TextToken(NamedTuple):
    """One token: its form for comparing, and where it is in the text."""

    form: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenText:
    """A text as its tokens, joined: a value occurs in it where its own tokens, joined, do.

    `starts` and `spans` are packed numbers, since texts of strangers have many: where each token begins in `joined`, and from
    where to where it is in the text.
    """

    joined: str = field(repr=False)
    starts: bytes = field(repr=False)
    spans: bytes = field(repr=False)

    def find(self, sought: str) -> tuple[int, int] | None:
        """Return from where to where `sought`, joined tokens, is in the text; None where it does not occur."""
        if not sought.strip(SEPARATOR):
            return None
        index = self.joined.find(sought)
        if index < 0:
            return None
        starts, spans = unpack_numbers(self.starts), unpack_numbers(self.spans)
        first, last = bisect_right(starts, index + 1) - 1, bisect_right(starts, index + len(sought) - 1) - 1
        return spans[2 * first], spans[2 * last + 1]


def join_forms(forms: Sequence[str]) -> str:
    """Return the forms of tokens, joined."""
    return SEPARATOR.join(["", *forms, ""]) if forms else SEPARATOR


def join_tokens(tokens: Sequence[TextToken]) -> TokenText:
    """Return tokens as a text in which others are found."""
    forms = [form for form, _, _ in tokens]
    starts = list(accumulate([len(form) + 1 for form in forms[:-1]], initial=1)) if forms else []
    spans = [place for _, start, end in tokens for place in (start, end)]
    return TokenText(joined=join_forms(forms), starts=pack_numbers(starts), spans=pack_numbers(spans))


def tokenize(text: str) -> Iterator[TextToken]:
    """Yield the tokens of `text` in order, the punctuation around words as tokens of their own."""
    for match in _CHUNK.finditer(text[:TEXT_CHARACTERS_MAX]):
        chunk = match[0]
        if match.end() == TEXT_CHARACTERS_MAX < len(text):
            return  # it is cut
        if chunk.isalnum():  # most are: nothing in them is to be divided
            yield TextToken(_fold(chunk), match.start(), match.end())
        else:
            yield from _divide(chunk, match.start())


def is_url(token: str) -> bool:
    """Tell whether a token begins as a URL does."""
    return _URL.match(token) is not None


def is_email(token: str) -> bool:
    """Tell whether a token is an e-mail address."""
    return _EMAIL.fullmatch(token) is not None


def has_hidden(text: str) -> bool:
    """Tell whether `text` has characters that are not seen, such as those of no width, or that turn its direction."""
    return not text.isprintable() and any(
        unicodedata.category(character) in ("Cf", "Cc", "Co", "Cn", "Cs") for character in text if character not in "\t\n\r"
    )


def _divide(chunk: str, start: int) -> Iterator[TextToken]:
    begin, end = 0, len(chunk)
    while begin < end and chunk[begin] in _OPENING:
        yield TextToken(chunk[begin], start + begin, start + begin + 1)
        begin += 1
    tail: list[TextToken] = []
    while end > begin and chunk[end - 1] in _CLOSING:
        tail.append(TextToken(chunk[end - 1], start + end - 1, start + end))
        end -= 1
    core = chunk[begin:end]
    run_on = _RUN_ON.fullmatch(core)
    if run_on is not None and (is_url(core) or is_email(core)):
        yield from _write(run_on[1], start + begin)
        yield from _write(run_on[2], start + begin + run_on.start(2))
    elif core and not is_url(core) and (split := _INNER.search(core)) is not None:
        parts = [position for match in _INNER.finditer(core, split.start()) for position in match.span()]
        edges = [0, *parts, len(core)]
        for first, last in pairwise(edges):
            if first < last:
                yield from _write(core[first:last], start + begin + first)
    elif core:
        yield from _write(core, start + begin)
    yield from reversed(tail)


def _write(word: str, start: int) -> Iterator[TextToken]:
    if word.endswith(_POSSESSIVE) and len(word) > 2:
        yield TextToken(_fold(word[:-2]), start, start + len(word) - 2)
        yield TextToken("'s", start + len(word) - 2, start + len(word))
    else:
        yield TextToken(_fold(word), start, start + len(word))


def _fold(word: str) -> str:
    word = word if word.isascii() else unicodedata.normalize("NFC", word)
    if word.isalnum():
        return word.casefold() if word.isalpha() else word
    if is_email(word):
        return word.casefold()
    if is_url(word):
        scheme, mark, rest = word.rpartition("://")[0], "://" if "://" in word else "", word.rpartition("://")[2]
        host, slash, path = rest.partition("/")
        return f"{scheme.lower()}{mark}{host.lower()}{slash}{path}"
    return word
