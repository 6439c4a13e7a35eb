"""Blocks of a turn as its watchers see them: texts, and the arguments of calls as the model wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product

from ferryman.domain.conversations.live import LiveBlock, LivePosition, LiveTurn, is_continued
from ferryman.domain.executions.execution import Step

SEPARATORS = ((", ", ": "), (",", ":"))
"""How models space the arguments of a call."""


def select_visible(blocks: Sequence[LiveBlock]) -> tuple[LiveBlock, ...]:
    """Return the blocks that there is something to see of: a call, or a text that is not empty."""
    return tuple(block for block in blocks if block.call or block.text)


def number_call(blocks: Sequence[LiveBlock], index: int) -> int | None:
    """Return the number of the call, from 0, whose arguments block `index` holds; None for a text."""
    return sum(bool(block.call) for block in blocks[:index]) if blocks[index].call else None


def read_blocks(step: Step, seen: LivePosition | None, live: LiveTurn | None) -> tuple[LiveBlock, ...]:
    """Return the blocks of a committed turn; calls that were not journaled, as in a reply that was cut, are left out.

    The turn has the arguments of a call as an object. They are spelled as the model did, where `live` is what was seen of
    the turn; else so that they go on from what was `seen`, where there is a spelling that does.
    """
    if live is not None and live.event == step.event:
        spelled = _spell_as(step, select_visible(live.blocks))
        if spelled is not None and (seen is None or is_continued(spelled, seen)):
            return spelled
    spellings = _spell(step)
    plain = next(spellings)
    if seen is None or is_continued(plain, seen):
        return plain
    return next((blocks for blocks in spellings if is_continued(blocks, seen)), plain)


def _spell(step: Step) -> Iterator[tuple[LiveBlock, ...]]:
    """Yield the blocks of a turn in each spelling of its arguments."""
    for separators, is_ascii in product(SEPARATORS, (False, True)):
        encoder = json.JSONEncoder(ensure_ascii=is_ascii, separators=separators)
        blocks = (
            LiveBlock(str(block["text"]))
            if block["type"] == "text"
            else LiveBlock(encoder.encode(block["input"]), str(block["id"]), str(block["name"]))
            for block in step.content
            if not step.summarizes and (block["type"] == "text" or (block["type"] == "tool_use" and step.calls))
        )
        yield select_visible(list(blocks))


def _spell_as(step: Step, written: Sequence[LiveBlock]) -> tuple[LiveBlock, ...] | None:
    """Return the blocks of a turn with the arguments as they were `written`; None where these are others."""
    blocks = next(_spell(step))
    if len(blocks) != len(written):
        return None
    for block, other in zip(blocks, written, strict=True):
        if (block.call, block.name) != (other.call, other.name) or not _means_same(block, other):
            return None
    return tuple(written)


def _means_same(block: LiveBlock, other: LiveBlock) -> bool:
    if block.text == other.text or not block.call:
        return block.text == other.text
    try:
        return bool(json.loads(block.text) == json.loads(other.text))
    except (ValueError, RecursionError):
        return False
