"""The lattice of labels: what follows from values has the join of their labels, which only ever rises."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

SOURCES_MAX = 64
"""How many sources a label names; of more, the first in their order, and that there are more."""


class Integrity(StrEnum):
    """Whether a value may decide what is done."""

    TRUSTED = "trusted"
    """Written by the owner, the operator or this system."""
    UNTRUSTED = "untrusted"
    """Anything else: its writer may want something else than the owner."""


class Confidentiality(StrEnum):
    """Who may read a value."""

    PUBLIC = "public"
    """Anybody."""
    OWNER = "owner"
    """The owner of the task."""
    CREDENTIAL = "credential"
    """Nobody: only the host that the credential is bound to is sent it."""


_INTEGRITY = tuple(Integrity)
_CONFIDENTIALITY = tuple(Confidentiality)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a value was read: the tool, the call's number in its execution, and the URL and the credential that it used.

    The URL is redacted and has no query, which may hold what nobody else should read.
    """

    tool: str
    call: int
    url: str | None = None
    credential: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowLabel:
    """How far a value may be trusted, who may read it, and from where it was read, in order and without repetitions.

    `more` tells that there are other sources than the `SOURCES_MAX` that are named.
    """

    integrity: Integrity
    confidentiality: Confidentiality
    sources: tuple[Source, ...] = ()
    more: bool = False


BOTTOM = FlowLabel(integrity=Integrity.TRUSTED, confidentiality=Confidentiality.PUBLIC)
"""The label of a constant of ours: joined with another, it changes nothing."""

OWNED = FlowLabel(integrity=Integrity.TRUSTED, confidentiality=Confidentiality.OWNER)
"""The label of what the owner wrote: the task's prompts, the input of an execution."""

READ = FlowLabel(integrity=Integrity.UNTRUSTED, confidentiality=Confidentiality.OWNER)
"""The label of what a tool read, with a credential or without: its host may answer with what it was asked."""


def join_integrity(parts: Iterable[Integrity]) -> Integrity:
    """Return the integrity of what follows from values with these; trusted for none."""
    return max(parts, key=_INTEGRITY.index, default=Integrity.TRUSTED)


def join(labels: Iterable[FlowLabel]) -> FlowLabel:
    """Return the least upper bound of `labels`; `BOTTOM` for none."""
    labels = tuple(labels)
    if not labels:
        return BOTTOM
    if len(labels) == 1 and len(labels[0].sources) < 2:
        return labels[0]
    integrity, confidentiality = labels[0].integrity, labels[0].confidentiality
    for label in labels[1:]:
        if label.integrity is not integrity:
            integrity = join_integrity((integrity, label.integrity))
        if label.confidentiality is not confidentiality:
            confidentiality = max(confidentiality, label.confidentiality, key=_CONFIDENTIALITY.index)
    more = any(label.more for label in labels)
    sources = {source for label in labels for source in label.sources}
    if not sources:
        return _build_plain(integrity, confidentiality, more)
    ordered = sorted(sources, key=lambda source: (source.call, source.tool, source.url or "", source.credential or ""))
    return FlowLabel(
        integrity=integrity,
        confidentiality=confidentiality,
        sources=tuple(ordered[:SOURCES_MAX]),
        more=more or len(ordered) > SOURCES_MAX,
    )


def drop_sources(label: FlowLabel) -> FlowLabel:
    """Return `label` without its sources, for where they are known from elsewhere."""
    return _build_plain(label.integrity, label.confidentiality, False) if label.sources or label.more else label


@cache
def _build_plain(integrity: Integrity, confidentiality: Confidentiality, more: bool) -> FlowLabel:
    """Return the label without sources, of which there are few."""
    return FlowLabel(integrity=integrity, confidentiality=confidentiality, more=more)
