"""Verdicts: whether a call may go or waits for a person, and which words of which source decided where its effect goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ferryman.domain.flow.trusted import Match
from ferryman.domain.labels.label import Source

VALUE_SHOWN_MAX = 200
"""How many characters of a value are shown."""

ORIGINS_SHOWN_MAX = 50
"""How many values are shown."""


SOURCES_SHOWN_MAX = 5
"""How many sources of a value are named."""


class FlowReason(StrEnum):
    """Why a call may go, or why it waits."""

    READS = "reads"
    """It only reads, and sends nothing that is not public."""
    UNTAINTED = "untainted"
    """Nothing untrusted was read before it, and none of its values comes from such."""
    TRUSTED = "trusted"
    """Every argument that decides where its effect goes is trusted."""
    TAINTED = "tainted"
    """An argument that decides where its effect goes may come from untrusted text."""
    UNDECIDED = "undecided"
    """It has no argument, so that nothing but text which was read says that it is wanted."""
    TOO_MANY = "too_many"
    """It has more arguments than are judged."""


class Trust(StrEnum):
    """What makes an argument trusted, or that nothing does."""

    LABEL = "label"
    """Its own label: nothing untrusted was read before it was written."""
    FIXED = "fixed"
    """The owner has fixed it: nothing that was read changes it."""
    TEXT = "text"
    """It occurs in trusted text."""
    RECORD = "record"
    """It is the key of a thing that trusted text names."""
    TEMPLATE = "template"
    """It is a title that trusted text leaves a place in, with something in that place."""
    DECLASSIFIED = "declassified"
    """A person has declassified this value."""
    NONE = "none"
    """Nothing."""


_BEFORE_RESULTS = (Trust.LABEL, Trust.FIXED, Trust.TEXT)
"""What is looked for before a result is: `Trust.TEXT` among what people wrote first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentOrigin:
    """Where one deciding value comes from.

    `path` leads to it, with dots. `match` is where trusted text has it, or the name of its thing; of a tainted value it is
    where that was read. None where that is not known. `thing` tells which record it is the key of. `sources` are those of a
    value that was handed on without the model reading it.
    """

    path: str
    value: str = field(repr=False)
    trust: Trust
    match: Match | None = None
    thing: str | None = None
    sources: tuple[Source, ...] = ()

    @property
    def is_trusted(self) -> bool:
        """Whether it may decide without a person."""
        return self.trust is not Trust.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowVerdict:
    """Whether a call may go or waits for a person, why, and what decided: the values that were judged."""

    tool: str
    reason: FlowReason
    origins: tuple[ArgumentOrigin, ...] = ()

    @property
    def is_final(self) -> bool:
        """Whether it is the same whatever was read: all that decides is trusted by what goes before any result."""
        return all(origin.trust in _BEFORE_RESULTS for origin in self.origins)

    @property
    def asks(self) -> bool:
        """Whether the call waits for a person."""
        return self.reason in (FlowReason.TAINTED, FlowReason.UNDECIDED, FlowReason.TOO_MANY)


def list_lines(verdict: FlowVerdict) -> list[str]:
    """Return a verdict as a tree of lines: for a person who asks why, or who decides. What is untrusted comes first."""
    origins = sorted(verdict.origins, key=lambda origin: origin.is_trusted)
    first, left_out = origins[:ORIGINS_SHOWN_MAX], origins[ORIGINS_SHOWN_MAX:]
    lines = [f"{verdict.tool}: {'waits for a person' if verdict.asks else 'may go'} ({verdict.reason})"]
    if left_out:
        untrusted = sum(not origin.is_trusted for origin in left_out)
        lines[0] += f"; {len(left_out)} further values are not listed, {untrusted} of them untrusted"
    for index, origin in enumerate(first):
        is_last = index == len(first) - 1
        cut = "…" if len(origin.value) == VALUE_SHOWN_MAX else ""
        lines.append(f"{'└' if is_last else '├'}─ {origin.path} = {origin.value}{cut}")
        lines.append(f"{' ' if is_last else '│'}  └─ {_describe(origin)}")
    return lines


def _describe(origin: ArgumentOrigin) -> str:
    where = f'{origin.match.source}: "{origin.match.excerpt}"' if origin.match is not None else ""
    if origin.trust is Trust.LABEL:
        return "trusted: written before anything untrusted was read"
    if origin.trust is Trust.FIXED:
        return "trusted: fixed by the owner"
    if origin.trust in (Trust.TEXT, Trust.DECLASSIFIED):
        return f"trusted: {where}"
    if origin.trust is Trust.RECORD:
        return f"trusted: the key of {origin.thing}, named in {where}"
    if origin.trust is Trust.TEMPLATE:
        return f"trusted: a title with its place filled, of {where}"
    if not origin.sources:
        return f"untrusted: {where or 'in no trusted text'}"
    handed = ", ".join(map(_name_source, origin.sources[:SOURCES_SHOWN_MAX]))
    return f"untrusted: handed on from {handed}{f'; {where}' if where else ''}"


def _name_source(source: Source) -> str:
    return f"call {source.call + 1} ({source.tool}{f' of {source.url}' if source.url else ''})"
