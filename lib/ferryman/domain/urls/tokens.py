"""The URLs in a text, each as a whole token, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ferryman.domain.calls.call import TRUNCATED
from ferryman.domain.http.url import CHARACTERS_MAX

# The printable characters of ASCII but for those that end a URL in running text, in HTML, in Markdown and in JSON.
_TOKEN = re.compile(r"[Hh][Tt][Tt][Pp][Ss]?://[!#-;=?-Z\[\]_a-z~]+", re.ASCII)
_LINKS = re.compile(r"\)\[|\]\(")
"""What is between two links of Markdown without a space, and between the text of one and its URL."""

_CLOSING = ".,;:!?'*_~)]"
"""Punctuation that may follow a URL, and may end one, too."""

_DOTS = TRUNCATED.partition(" ")[0]
_OMISSIONS = ("[redacted:", "[omitted:")
"""What is put in place of a credential, or of a text that could not be checked for one."""


def drop_fragment(url: str) -> str:
    """Return `url` without its fragment, which no host is sent."""
    return url.partition("#")[0]


def list_urls(text: str) -> Iterator[str]:
    """Yield the URLs of `text` without their fragments: each as it is written, and without the punctuation after it.

    One that was cut with its text is none, nor is one that a credential was taken out of, nor one above `CHARACTERS_MAX`
    characters.
    """
    for match in _TOKEN.finditer(text):
        token = match[0]
        if any(omission in token for omission in _OMISSIONS):
            continue
        parts = _LINKS.split(token)
        if _is_cut(text, token, match.end()):
            parts.pop()
        for part in parts:
            forms = (part, part.rstrip(_CLOSING), _close(part)) if _TOKEN.match(part) else ()
            for form in dict.fromkeys(drop_fragment(form) for form in forms):
                if len(form) <= CHARACTERS_MAX:
                    yield form


def _is_cut(text: str, token: str, end: int) -> bool:
    """Tell whether the mark of a cut follows the token, or begins with its last characters: dots are a URL's, too."""
    if text.startswith(f"\n{TRUNCATED}", end):
        return True
    return token.endswith(_DOTS) and text.startswith(TRUNCATED, end - len(_DOTS))


def _close(token: str) -> str:
    """Return `token` up to the first parenthesis that nothing in it has opened, as in a link of Markdown."""
    depth = 0
    for index, character in enumerate(token):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return token[:index]
    return token
