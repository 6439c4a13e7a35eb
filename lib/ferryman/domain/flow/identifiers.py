"""Links, addresses and account numbers in a text that others will read: they decide where its reader goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ferryman.domain.flow.tokens import TEXT_CHARACTERS_MAX, is_email, is_url, tokenize
from ferryman.domain.flow.words import read_words
from ferryman.domain.urls.site import has_public_suffix

IDENTIFIERS_MAX = 100
"""How many of them a text may have and still be judged one by one."""

_ACCOUNT = re.compile(
    r"(?<![^\W_])(?:[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?|\d(?:-?\d){11,22}|\d{4}(?: \d{4}){2,5})(?![^\W_])"
)
"""An IBAN, or at least twelve digits, as of a card."""

_DOMAIN = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.){1,10}[A-Za-z]{2,24}(?::\d{1,5})?(?P<path>/.*)?")
_FILE_ENDINGS = read_words("cc md pl ps py rs sh so zip")
"""Endings of names of files that are top-level domains, too."""


def list_identifiers(text: str) -> Iterator[str]:
    """Yield the links, e-mail addresses, and account and card numbers in `text`, at most `IDENTIFIERS_MAX` and one."""
    text = text[:TEXT_CHARACTERS_MAX]
    yield from islice(_iterate(text), IDENTIFIERS_MAX + 1)


def _iterate(text: str) -> Iterator[str]:
    for token in tokenize(text):
        if is_url(token.form) or is_email(token.form) or _is_domain(token.form):
            yield text[token.start : token.end]
    for match in _ACCOUNT.finditer(text):
        yield match[0]


def _is_domain(token: str) -> bool:
    match = _DOMAIN.fullmatch(token)
    if match is None:
        return False
    host = token.partition("/")[0].partition(":")[0].lower()
    ending = host.rpartition(".")[2]
    return has_public_suffix(host) and (match["path"] is not None or ending not in _FILE_ENDINGS)
