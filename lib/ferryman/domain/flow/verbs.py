"""What a tool does, by the verbs of its name: it only reads, or it has an effect; where neither is clear, it has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ferryman.domain.flow.words import list_description_words, list_forms, read_words, split_words
from ferryman.domain.http.request import Method

READING = read_words(
    """browse calculate check compare compute convert count describe detect diff estimate explain fetch filter find get
    glob grep has inspect is list look lookup preview query read recall retrieve return search show summarize translate
    validate verify view"""
)
"""Verbs of tools that only read."""

DESTROYING = read_words(
    """archive ban block cancel clear close delete destroy disable drop erase expire forget kick purge reject remove
    reset revoke terminate trash unfollow uninstall unshare unsubscribe void wipe"""
)
"""Verbs of effects that take something away."""

CHANGING = DESTROYING | read_words(
    """accept add append apply approve assign attach authorize book buy call change charge checkout comment commit
    confirm connect copy create debit deploy deposit download edit email enable execute follow forward grant import
    insert install invite invoke join leave like lock mail make mark merge message modify move notify order patch pay
    place post publish push put react refund register rename reply report reschedule reserve restart restore run save
    schedule sell send set share sign start stop store submit subscribe swap sync tag transfer trigger update upload
    upsert vote withdraw write"""
)
"""Verbs of effects."""

SAFE_METHODS = (Method.GET, "HEAD", "OPTIONS")
"""Methods of requests that only read (RFC 9110, 9.2.1)."""

MAKING = read_words("add compose create draft insert make new schedule")
"""Verbs of effects that make a new thing."""

_JOINING = ("and", "or", "then")
_PARTICLES = ("in", "out")
_ALSO_WORDS = 3
"""How many words after "also" a verb is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAction:
    """What the name, the description and the HTTP method of a tool say that it does."""

    reads_only: bool
    destroys: bool = False


def classify_action(name: str, description: str, method: str | None) -> ToolAction:
    """Return what a tool does.

    It only reads where its name begins with a verb of reading and joins no other to it; where its name has no verb, its
    description does. An HTTP method that is not safe (RFC 9110, 9.2.1) is an effect, whatever the name says, and a name
    that says an effect is one, whatever the method.
    """
    words = split_words(name)
    destroys = any(word in DESTROYING for word in words)
    if method is not None and method.upper() not in SAFE_METHODS:
        return ToolAction(reads_only=False, destroys=destroys or method.upper() == Method.DELETE)
    reads = _reads_by_name(words)
    if reads is None:
        reads = method is not None or _reads_by_description(description)
    if reads and _has_further_effect(description):
        reads = False
    return ToolAction(reads_only=reads, destroys=destroys and not reads)


def makes_new(words: Sequence[str]) -> bool:
    """Tell whether the words of a tool's name say that it makes a new thing, and does nothing else."""
    return words[:1] != () and words[0] in MAKING and not any(word in CHANGING or word in _JOINING for word in words[1:])


def _reads_by_name(words: Sequence[str]) -> bool | None:
    """Tell whether a name is one of a tool that reads; None where it has no verb."""
    for index, word in enumerate(words):
        if word in READING:
            after = words[index + 1 :]
            is_phrasal = word == "check" and after[:1] and after[0] in _PARTICLES
            joined = any(a in _JOINING and b in CHANGING for a, b in pairwise(after))
            has_other = index > 0 and any(other in CHANGING for other in words)
            return not (is_phrasal or joined or has_other)
        if word in CHANGING:
            return False
    return None


def _reads_by_description(description: str) -> bool:
    first = next(list_description_words(description), "")
    return any(form in READING for form in list_forms(first))


def _has_further_effect(description: str) -> bool:
    """Tell whether a description says that a tool also does something, such as "also sends an email"."""
    remaining = 0
    for word in list_description_words(description):
        if remaining and any(form in CHANGING for form in list_forms(word)):
            return True
        remaining = _ALSO_WORDS if word == "also" else max(0, remaining - 1)
    return False
