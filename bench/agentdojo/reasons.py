"""Why people are asked: of each call that waited, which kind of argument no trusted text has, and where it comes from.

It is read from the tree that `ferryman why` prints; the kinds are those of the derivation, and no tool is named here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ferryman.domain.calls.call import Ticket
from ferryman.domain.flow.numbers import read_number
from ferryman.domain.flow.roles import ID_WORDS, LOCATOR_WORDS, RECEIVING_WORDS
from ferryman.domain.flow.words import split_words

_VALUE = re.compile(r"[├└]─ (?P<path>\S+) = (?P<value>.*)", re.DOTALL)
_READ, _NOWHERE = "untrusted: the result of call", "untrusted: in no trusted text"


@dataclass(frozen=True, slots=True, order=True)
class AskReason:
    """What kind of argument asked, and whether it occurs in what was read as it was written, or nowhere."""

    kind: str
    is_read: bool


def collect_reasons(tickets: Sequence[Ticket]) -> tuple[AskReason, ...]:
    """Return why calls waited, each reason once."""
    return tuple(sorted({reason for ticket in tickets if ticket.approval for reason in list_reasons(ticket)}))


def list_reasons(ticket: Ticket) -> Iterator[AskReason]:
    """Yield why a call waited, once for each value that asked."""
    lines = ticket.flow.lines if ticket.flow is not None else ()
    for line, following in pairwise(lines):
        match = _VALUE.match(line)
        if match is None or not (_READ in following or _NOWHERE in following):
            continue
        yield AskReason(_name_kind(match["path"], match["value"]), _READ in following)


def _name_kind(path: str, value: str) -> str:
    words = {word for step in path.split(".") for word in split_words(step)}
    if not LOCATOR_WORDS.isdisjoint(words):
        return "a page to open"
    if not ID_WORDS.isdisjoint(words):
        return "the key of what is changed or taken away"
    if not RECEIVING_WORDS.isdisjoint(words):
        return "a person, a channel or an account"
    return "an amount" if read_number(value.removesuffix(".0")) is not None else "other text"
