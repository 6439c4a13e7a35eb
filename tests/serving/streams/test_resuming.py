"""Streams that break off after any frame: a watcher who comes back has everything in the end, and nothing twice."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.campaigns.streams.cutting import FORMATS, begin, read, resume
from tests.campaigns.streams.runs import generate_run

SEEDS = st.integers(0, 2**32)
EXAMPLES = 30
"""Of each format; `make cuts` breaks hundreds of answers off behind every frame."""


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=EXAMPLES, derandomize=True)
@given(seed=SEEDS, data=st.data())
def test_a_stream_that_breaks_off_after_any_frame_goes_on_from_there(name: str, seed: int, data: st.DataObject):
    states = generate_run(seed)
    batches = begin(name, states)
    frames = [(frame, number) for number, batch in enumerate(batches) for frame in batch]
    seen = data.draw(st.integers(0, len(frames)))
    first = frames[seen - 1][1] if seen else 0
    later = data.draw(st.integers(first, len(states) - 1))
    read_in_the_end = resume(name, states, [frame for frame, _ in frames[:seen]], later=later)
    assert read(name, read_in_the_end) == read(name, [frame for frame, _ in frames])


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=EXAMPLES, derandomize=True)
@given(seed=SEEDS)
def test_who_comes_at_the_end_has_what_everybody_has(name: str, seed: int):
    states = generate_run(seed)
    frames = [frame for batch in begin(name, states) for frame in batch]
    assert read(name, resume(name, states, (), later=len(states) - 1)) == read(name, frames)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=EXAMPLES, derandomize=True)
@given(seed=SEEDS)
def test_nothing_follows_the_last_frame(name: str, seed: int):
    states = generate_run(seed)
    frames = [frame for batch in begin(name, states) for frame in batch]
    assert resume(name, states, frames, later=len(states) - 1) == frames
