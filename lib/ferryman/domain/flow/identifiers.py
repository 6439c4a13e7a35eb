"""Links, addresses and account numbers in a text that others will read: they decide where its reader goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ferryman.domain.flow.tokens import TEXT_CHARACTERS_MAX
from ferryman.domain.flow.words import read_words
from ferryman.domain.urls.site import has_public_suffix

IDENTIFIERS_MAX = 100
"""How many of them a text may have and still be judged one by one."""

_URL = re.compile(r"(?<![^\W_])(?:[A-Za-z][A-Za-z0-9+.-]{0,15}://|[Ww]{3}\.)[^\s<>\"'`\\]+")
_EMAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,10}")
_DOMAIN = re.compile(
    r"(?<![\w@./-])(?P<host>(?:[\w-]{1,63}\.){1,10}[^\W\d_]{2,24})(?![\w@-])(?P<path>(?::\d{1,5})?/[^\s<>\"'`\\]*)?"
)
_ACCOUNT = re.compile(
    r"(?<![^\W_])(?:[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?|\d(?:-?\d){11,22}|\d{4}(?: \d{4}){2,5})(?![^\W_])"
)
"""An IBAN, or at least twelve digits, as of a card."""

_AFTER = ".,;:!?)]}*_~"
"""Punctuation that may follow a URL, and is no part of it."""

_FILE_ENDINGS = read_words("cc md pl ps py rs sh so zip")
"""Endings of names of files that are top-level domains, too."""


def list_identifiers(text: str) -> Iterator[str]:
    """Yield the links, e-mail addresses, and account and card numbers in `text`, at most `IDENTIFIERS_MAX` and one.

    Wherever they are: in running text, in HTML, in Markdown, and in JSON.
    """
    yield from islice(dict.fromkeys(_iterate(text[:TEXT_CHARACTERS_MAX])), IDENTIFIERS_MAX + 1)


def _iterate(text: str) -> Iterator[str]:
    for match in _URL.finditer(text):
        yield match[0].rstrip(_AFTER)
    for pattern in (_EMAIL, _ACCOUNT):
        for match in pattern.finditer(text):
            yield match[0]
    for match in _DOMAIN.finditer(text):
        host = match["host"].lower()
        if not host.startswith("www.") and _is_domain(host, has_path=match["path"] is not None):
            yield match[0].rstrip(_AFTER)


def _is_domain(host: str, *, has_path: bool) -> bool:
    return has_public_suffix(host) and (has_path or host.rpartition(".")[2] not in _FILE_ENDINGS)
