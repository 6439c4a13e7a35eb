"""The judgement of one call: no untrusted text decides where an effect goes without a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ferryman.domain.flow.identifiers import IDENTIFIERS_MAX, list_identifiers
from ferryman.domain.flow.records import RecordIndex
from ferryman.domain.flow.roles import classify_name
from ferryman.domain.flow.signature import ArgumentFlow, FlowSignature
from ferryman.domain.flow.tokens import TEXT_CHARACTERS_MAX
from ferryman.domain.flow.trusted import Match, TrustedText, find_trusted
from ferryman.domain.flow.values import FlowValue
from ferryman.domain.flow.verdict import ORIGINS_SHOWN_MAX, VALUE_SHOWN_MAX, ArgumentOrigin, FlowReason, FlowVerdict, Trust
from ferryman.domain.json_tree import walk
from ferryman.domain.labels.label import Confidentiality, FlowLabel, Integrity, Source
from ferryman.domain.tools.correction import ArgumentRole

LEAVES_MAX = 1_000
"""How many values the arguments of a call may have; one with more waits for a person."""

_NAME = ArgumentFlow(role=ArgumentRole.CONTENT)
"""The role of a name in an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowContext:
    """What a call is judged by.

    `label` is that of all that the model has read. `trusted` are the texts that people and operators wrote, and results that
    are trusted (`trusts_result`); `read` are the texts of all results, to show where a tainted value comes from;
    `records` are those of the results. `declassified` are the values that people declassified, each with who did.
    """

    label: FlowLabel
    trusted: Sequence[TrustedText] = field(repr=False)
    read: Sequence[TrustedText] = field(default=(), repr=False)
    records: RecordIndex = field(default_factory=RecordIndex, repr=False)
    declassified: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    """One value among the arguments of a call."""

    path: tuple[str, ...]
    value: Any = field(repr=False)
    flow: ArgumentFlow
    is_tainted: bool
    sources: tuple[Source, ...] = ()


def judge_flow(signature: FlowSignature, arguments: Mapping[str, Any], context: FlowContext) -> FlowVerdict:
    """Return whether a call may go, or waits for a person because of where its deciding arguments may come from."""
    if not signature.has_effect or (not signature.changes and _is_public(arguments, context)):
        return FlowVerdict(tool=signature.tool, reason=FlowReason.READS)
    leaves = list(islice(_list_leaves(signature, arguments, context.label), LEAVES_MAX + 1))
    is_tainted = context.label.integrity is Integrity.UNTRUSTED
    if not is_tainted and not any(leaf.is_tainted for leaf in leaves):
        return FlowVerdict(tool=signature.tool, reason=FlowReason.UNTAINTED)
    if len(leaves) > LEAVES_MAX:
        return FlowVerdict(tool=signature.tool, reason=FlowReason.TOO_MANY)
    deciding = [leaf for leaf in leaves if leaf.flow.role is ArgumentRole.DECIDES]
    others = [leaf for leaf in leaves if leaf.flow.role in (ArgumentRole.CONTENT, ArgumentRole.DETAIL)]
    if not deciding:  # nothing says where: then all of it decides
        deciding, others = others, []
    if leaves and not deciding:  # all of it is free
        return FlowVerdict(tool=signature.tool, reason=FlowReason.TRUSTED)
    origins = [_judge_leaf(leaf, signature, context) for leaf in deciding]
    origins += [origin for leaf in others if leaf.is_tainted for origin in _judge_content(leaf, context)]
    if not origins:
        return FlowVerdict(tool=signature.tool, reason=FlowReason.UNDECIDED)
    if all(origin.is_trusted for origin in origins):
        return FlowVerdict(tool=signature.tool, reason=FlowReason.TRUSTED, origins=tuple(origins))
    return FlowVerdict(tool=signature.tool, reason=FlowReason.TAINTED, origins=_locate(origins, context.read))


def _is_public(arguments: Mapping[str, Any], context: FlowContext) -> bool:
    """Tell whether the model has read nothing that is not public, and was handed nothing without reading it."""
    return context.label.confidentiality is Confidentiality.PUBLIC and not any(
        isinstance(value, FlowValue) for _, value in walk(arguments)
    )


def trusts_result(signature: FlowSignature, arguments: Mapping[str, Any], context: FlowContext) -> bool:
    """Tell whether the result of a call is trusted text: people alone wrote what it reads, and no stranger chose what of it."""
    if not signature.reads_people:
        return False
    leaves = list(islice(_list_leaves(signature, arguments, context.label), LEAVES_MAX + 1))
    if len(leaves) > LEAVES_MAX:
        return False
    return all(not leaf.is_tainted or _find(leaf, context.trusted) is not None for leaf in leaves)


def _list_leaves(signature: FlowSignature, arguments: Mapping[str, Any], label: FlowLabel) -> Iterator[_Leaf]:
    """Yield the values of a call that say something, neither null nor empty, and the names in its objects."""
    for name, argument in arguments.items():
        flow = signature.find_flow(name)
        may_be_tainted = label.integrity is Integrity.UNTRUSTED and name not in signature.fixed
        for path, value, is_tainted, sources in _walk(argument, is_tainted=may_be_tainted):
            keys = [step for step in path if isinstance(step, str)]
            where = (name, *map(str, path))
            if isinstance(value, Mapping):
                for key in value:
                    yield _Leaf(path=where, value=key, flow=_NAME, is_tainted=is_tainted, sources=sources)
            elif value is not None and value != "":
                inner = classify_name(keys[-1]) if keys and not flow.is_whole else flow
                yield _Leaf(path=where, value=value, flow=inner, is_tainted=is_tainted, sources=sources)


def _walk(
    argument: Any, *, is_tainted: bool, sources: tuple[Source, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any, bool, tuple[Source, ...]]]:
    """Yield the values and the objects in an argument, each with its path, whether it may come from untrusted text, and the
    sources of a value that was handed on."""
    for path, value in walk(argument):
        if isinstance(value, FlowValue):
            tainted = is_tainted or value.label.integrity is Integrity.UNTRUSTED
            for inner_path, *inner in _walk(value.value, is_tainted=tainted, sources=value.label.sources):
                yield (*path, *inner_path), *inner
        elif not isinstance(value, list | tuple):
            yield path, value, is_tainted, sources


def _find(leaf: _Leaf, texts: Sequence[TrustedText]) -> Match | None:
    return find_trusted(texts, leaf.value, leaf.flow.words, is_key=leaf.flow.identifies)


def _judge_leaf(leaf: _Leaf, signature: FlowSignature, context: FlowContext) -> ArgumentOrigin:
    if not leaf.is_tainted:
        return _build_origin(leaf, Trust.FIXED if leaf.path[0] in signature.fixed else Trust.LABEL)
    match = _find(leaf, context.trusted)
    if match is not None:
        return _build_origin(leaf, Trust.TEXT, match)
    if (declassified := _find_declassified(str(leaf.value), context)) is not None:
        return _build_origin(leaf, Trust.DECLASSIFIED, declassified)
    if leaf.flow.identifies and not signature.destroys:
        named = context.records.find(leaf.value, leaf.flow.things, context.trusted)
        if named is not None:
            record, match = named
            thing = f"{record.name!r} in the result of call {record.source.call + 1} ({record.source.tool})"
            return _build_origin(leaf, Trust.RECORD, match, thing=thing)
    if leaf.flow.is_new_title and isinstance(leaf.value, str):
        title = leaf.value
        match = next((match for text in context.trusted if (match := text.find_template(title)) is not None), None)
        if match is not None:
            return _build_origin(leaf, Trust.TEMPLATE, match)
    return _build_origin(leaf, Trust.NONE)


def _judge_content(leaf: _Leaf, context: FlowContext) -> Iterator[ArgumentOrigin]:
    """Yield the origins of what a text holds that decides where its reader goes."""
    if not isinstance(leaf.value, str):
        return
    if len(leaf.value) > TEXT_CHARACTERS_MAX:
        yield _build_origin(leaf, Trust.NONE)  # more than is read
    for count, identifier in enumerate(list_identifiers(leaf.value), 1):
        match = find_trusted(context.trusted, identifier) if count <= IDENTIFIERS_MAX else None
        declassified = _find_declassified(identifier, context) if match is None else None
        trust = Trust.TEXT if match is not None else Trust.NONE if declassified is None else Trust.DECLASSIFIED
        yield _build_origin(leaf, trust, match or declassified, value=identifier)


def _find_declassified(value: str, context: FlowContext) -> Match | None:
    """Return who declassified a value: exactly this text, and no part of it; None where nobody did."""
    source = context.declassified.get(value)
    return None if source is None else Match(source=source, start=0, end=len(value), excerpt=value)


def _locate(origins: Sequence[ArgumentOrigin], read: Sequence[TrustedText]) -> tuple[ArgumentOrigin, ...]:
    """Return `origins`, the tainted ones that are shown with the place where they were read, as far as they are there as they
    were written."""
    first = set(islice((index for index, origin in enumerate(origins) if not origin.is_trusted), ORIGINS_SHOWN_MAX))
    return tuple(
        replace(origin, match=find_trusted(read, origin.value, ("id",))) if index in first else origin
        for index, origin in enumerate(origins)
    )


def _build_origin(
    leaf: _Leaf, trust: Trust, match: Match | None = None, *, thing: str | None = None, value: str | None = None
) -> ArgumentOrigin:
    text = str(leaf.value) if value is None else value
    return ArgumentOrigin(
        path=".".join(leaf.path), value=text[:VALUE_SHOWN_MAX], trust=trust, match=match, thing=thing, sources=leaf.sources
    )
