"""Judging a listing of an MCP server: which descriptors a person could accept, and what a model would read of each.

All of it is a stranger's text: a pure function, for worker processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.declared.schemas import find_problem
from ferryman.domain.json_tree import is_too_deep, iterate_leaves
from ferryman.domain.problem import build_input_error
from ferryman.domain.remote_servers.descriptor import (
    DESCRIPTOR_BYTES_MAX,
    LISTING_BYTES_MAX,
    TOOLS_PER_SERVER_MAX,
    digest_text,
    write_descriptor,
)
from ferryman.domain.remote_servers.lookalikes import Neighbours, find_name_refusals
from ferryman.domain.remote_servers.offered import name_model_text, write_model_text
from ferryman.domain.remote_servers.pins import ListedDescriptor
from ferryman.domain.remote_servers.schema import BYTES_MAX, SchemaRefusedError, write_out
from ferryman.domain.remote_servers.shadowing import find_shadowing
from ferryman.framing.frame import neutralize_unframed
from ferryman.tools.declared.importing import neutralize_schema

DEPTH_MAX = 64

Descriptor = tuple[str, Mapping[str, Any]]
"""A tool's name, and all that its server sent of it."""

Refusal = tuple[str, str]
"""A tool's name, and why it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedListing:
    """The tools of a listing, and the texts that are stored of their descriptors, by digest and as models read them."""

    listing: tuple[ListedDescriptor, ...]
    texts: Mapping[str, str] = field(repr=False)


def judge_listing(tools: Sequence[Descriptor], refused: Iterable[Refusal], neighbours: Neighbours) -> JudgedListing:
    """Return the judged tools of a listing. Raise `InvalidInputError` for one that is over its bounds as a whole."""
    refusals = dict(refused)
    if len(tools) + len(refusals) > TOOLS_PER_SERVER_MAX:
        raise build_input_error("tools", f"the server lists more than {TOOLS_PER_SERVER_MAX} tools")
    names = [name for name, _ in tools]
    refusals |= find_name_refusals(names, neighbours)
    listing, texts = [], dict[str, str]()
    for name, raw in tools:
        text = _write(raw)
        if text is None:
            listing.append(
                ListedDescriptor(tool=name, digest=None, refusal=f"its descriptor is none that can be stored: {_BOUNDS}")
            )
            refusals.pop(name, None)
            continue
        digest = digest_text(text)
        texts[digest] = text
        refusal = refusals.pop(name, None) or find_shadowing(_list_texts(raw), neighbours, names)
        if refusal is None:
            try:
                texts[name_model_text(digest)] = build_model_text(raw)
            except SchemaRefusedError as error:
                refusal = str(error)
        listing.append(ListedDescriptor(tool=name, digest=digest, refusal=refusal))
    if sum(map(len, texts.values())) > 2 * LISTING_BYTES_MAX:
        raise build_input_error("tools", f"the descriptors of the server have more than {LISTING_BYTES_MAX} bytes")
    listing += [ListedDescriptor(tool=name, digest=None, refusal=reason) for name, reason in refusals.items()]
    return JudgedListing(listing=tuple(listing), texts=texts)


_BOUNDS = f"at most {DESCRIPTOR_BYTES_MAX} bytes, nested at most {DEPTH_MAX} deep, and nothing that JSON does not have"


def _write(raw: Mapping[str, Any]) -> str | None:
    """Return the text of a descriptor; None where it is over its bounds."""
    try:
        text = None if is_too_deep(raw, DEPTH_MAX) else write_descriptor(raw)
    except (ValueError, TypeError, RecursionError):
        return None
    return text if text is not None and len(text) <= DESCRIPTOR_BYTES_MAX else None


def build_model_text(raw: Mapping[str, Any]) -> str:
    """Return what models read of a descriptor: neutralized, and cut to its budget. Raise `SchemaRefusedError`."""
    schema = write_out(raw.get("inputSchema"))
    problem = find_problem(schema)
    if problem is not None:
        raise SchemaRefusedError(f"its input schema {problem}")
    neutral = neutralize_schema(schema, neutralize_unframed)
    description = raw.get("description")
    text = write_model_text(neutralize_unframed(description) if isinstance(description, str) else "", neutral)
    if len(text) > BYTES_MAX:
        raise SchemaRefusedError(f"its input schema has more than {BYTES_MAX} bytes once its references are written out")
    return text


def _list_texts(raw: Mapping[str, Any]) -> list[str]:
    return [leaf for leaf in iterate_leaves(raw) if isinstance(leaf, str)]
