"""The moments of one turn: its blocks as they grow, and from the first one again where what was seen is void."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ferryman.domain.conversations.live import LiveBlock, is_continued, locate_end
from ferryman.domain.conversations.position import START_OF_TURN, Stage, StreamPosition
from ferryman.domain.copies import replace
from ferryman.serving.streams.blocks import number_call
from ferryman.serving.streams.moments import BlockEnd, BlockGrowth, BlockStart, Moment, Replacement, StepStart, Thinking


def start_turn(position: StreamPosition, iteration: int, *, is_asked: bool = True) -> Iterator[Moment]:
    """Yield what comes before the first block of turn `iteration`, as far as it was not seen; `is_asked`: of the model."""
    if position.live is not None:
        return
    if is_asked and position.stage is not Stage.THINKING:
        yield Thinking(after=StreamPosition(event=position.event, stage=Stage.THINKING), iteration=iteration)
    yield StepStart(after=StreamPosition(event=position.event, live=START_OF_TURN), iteration=iteration)


def follow_turn(
    position: StreamPosition, iteration: int, blocks: Sequence[LiveBlock], *, is_whole: bool, is_stored: bool
) -> Iterator[Moment]:
    """Yield the moments of a turn from `position` in it on. `is_whole` tells that nothing follows its blocks."""
    seen = position.live
    assert seen is not None, "the turn has begun"
    if not position.is_at_start and not _goes_on(blocks, position):
        if not position.is_ended:
            position = replace(position, is_ended=True)
            yield BlockEnd(after=position, iteration=iteration, index=seen.block, call=position.call, is_stored=is_stored)
        position = StreamPosition(event=position.event, live=START_OF_TURN, generation=position.generation + 1)
        yield Replacement(after=position, iteration=iteration)
    is_fresh = position.is_at_start
    for index in range(0 if is_fresh else seen.block, len(blocks)):
        block, call = blocks[index], number_call(blocks, index)
        at: dict[str, Any] = {"iteration": iteration, "index": index, "call": call, "is_stored": is_stored}
        length = seen.offset
        if is_fresh or index > seen.block:
            length = 0
            start = [*blocks[:index], replace(block, text="")]
            position = replace(position, live=locate_end(start), call=call, is_ended=False)
            yield BlockStart(after=position, block=block, **at)
        if length < len(block.text):
            position = replace(position, live=locate_end(blocks[: index + 1]))
            starts_line = length == 0 and call is None and any(not other.call for other in blocks[:index])
            yield BlockGrowth(after=position, block=block, delta=block.text[length:], starts_line=starts_line, **at)
        if not position.is_ended and (is_whole or index + 1 < len(blocks)):
            position = replace(position, is_ended=True)
            yield BlockEnd(after=position, **at)


def _goes_on(blocks: Sequence[LiveBlock], position: StreamPosition) -> bool:
    """Tell whether `blocks` go on from what was seen; a block whose end was seen does not grow."""
    seen = position.live
    if seen is None or not is_continued(blocks, seen):
        return False
    return not position.is_ended or seen.offset == len(blocks[seen.block].text)
