"""Marks: what a model could take for the frame, for a turn of a chat, or for a control token of its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from ferryman.egress.leaks.lookalikes import PLAIN

_ROLES = "human|assistant|system|user|developer|tool|function|ai|bot|chatbot|instructions?"
_APART = r"[\W_]{0,3}"
_IMITATION = re.compile(
    rf"(?P<tool>{_APART.join('tool')})(?P<apart>{_APART}|[\s_.-]{{4,8}})(?P<response>{_APART.join('response')})", re.IGNORECASE
)
# At the beginning of a line, however a line begins: as a character, as an escape, as a tag.
_ROLE = re.compile(
    r"(?P<before>(?:^|\\[nr]|[\x0b\x0c]|<(?:br|/?(?:p|div|li|h[1-6]|td|tr|pre|blockquote))\b[^<>\n]{0,40}>)"
    rf"(?:[^\w\n]|_|\d{{1,3}}[.)]){{0,24}}?)(?P<role>{_ROLES})"
    r"(?P<after>(?:[^\S\n]*[*_`]{0,3})?[^\S\n]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    r"(?P<before>(?:^|\\[nr])[^\S\n]*\#{3}[^\S\n]*)(?P<role>human|assistant|system|user|instructions?|(?:response|input)(?=[^\S\n]*:))"
    r"(?P<after>[^\S\n]*(?=:|$|\\[nr]))",
    re.IGNORECASE | re.MULTILINE,
)
_TOKEN = re.compile(
    r"<\s{0,3}[|｜](?P<a>[^<>\n]{0,64}?)[|｜]\s{0,3}>|\[\|(?P<b>[^\[\]\n]{0,64}?)\|\]"
    r"|<(?P<c>/?(?:(?:start|end)_of_[a-z]{1,16}|sys|s|[bes]o[spd]|pad|unk|sep|mask|(?:seed|minimax):[a-z_]{1,24}|_(?:user|bot|system|ap)|"
    r"(?:extra_id|reserved|special|unused)_?\d{1,6})\b[^<>\n]{0,64})>"
    r"|\]~(?P<d>[a-z!]{1,3})\]|\[e~\[",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    r"<<(?P<a>/?\s*SYS\s*)>>|\[(?P<b>/?\s*(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK)\s*)\]",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"<(?P<a>\s*/?\s*(?:[a-z]{1,12}:)?(?:system|assistant|human|user|developer|function_calls?|function_results?|function=[^<>\s]{1,64}|"
    r"invoke|parameter|tools?|tool_[a-z_]{1,24}|system[-_][a-z_-]{1,24}|im_start|im_end|think|thinking|instructions|role|"
    r"message\s[^<>]{0,80}role)\b[^<>]{0,200})>",
    re.IGNORECASE,
)


def _shapes() -> dict[int, str]:
    """Characters that read as an ASCII one, each for one: by their shape, or as a letter with accents."""
    shapes = {code: like for code, like in PLAIN.items() if like is not None and 0x7F < code < 0xE0000}
    for code in range(0xC0, 0x1F00):
        letter, *accents = list(unicodedata.normalize("NFKD", chr(code)))
        if letter.isascii() and letter.isalpha() and accents and all(map(unicodedata.combining, accents)):
            shapes[code] = letter
    return shapes | dict.fromkeys(map(ord, "∶ː꞉׃"), ":")


_SHAPES = _shapes()


def _bare(found: re.Match[str]) -> str:
    return next((each for each in found.groups() if each is not None), "").strip("|｜ ")


def _role(found: re.Match[str]) -> str:
    return f"{found['before']}[role {found['role']}]{found['after']}"


def _name(found: re.Match[str]) -> str:
    # Between two quotes it is JSON, which stays JSON.
    return f"{found['tool']}[frame]{found['apart']}{found['response']}" if '"' in found["apart"] else "[frame]"


_HARMLESS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_IMITATION, _name),
    (_ROLE, _role),
    (_HEADING, _role),
    (_TOKEN, lambda found: f"[{_bare(found)}]"),
    (_BRACKETED, lambda found: f"({_bare(found)})"),
    (_TAG, lambda found: f"[{found['a']}]"),
)


def imitations(text: str) -> int:
    """How often the frame's own name stands in `text`."""
    return len(_IMITATION.findall(text))


def count(text: str) -> tuple[int, ...]:
    """How many marks of each kind stand in `text`."""
    like = _alike(text)
    return tuple(sum(1 for _ in pattern.finditer(like)) for pattern, _ in _HARMLESS)


def disarmed(text: str) -> str:
    """`text` with every mark rewritten so that it reads as what it is: a word in somebody else's text."""
    like = _alike(text)
    for pattern, harmless in _HARMLESS:
        if pattern.search(like):
            text = "".join(_replaced(text, like, pattern, harmless))
            like = _alike(text)
    return text


def _replaced(text: str, like: str, pattern: re.Pattern[str], harmless: Callable[[re.Match[str]], str]) -> Iterator[str]:
    done = 0
    for found in pattern.finditer(like):
        yield text[done : found.start()]
        yield harmless(found)
        done = found.end()
    yield text[done:]


def _alike(text: str) -> str:
    """`text` as it looks, character for character."""
    return text if text.isascii() else text.translate(_SHAPES)
