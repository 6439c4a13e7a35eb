"""A sample of the campaigns of streams, and that their clients and models refuse what is not right."""

from __future__ import annotations

import json

import pytest

from tests.campaigns.streams.clients import ViolationError
from tests.campaigns.streams.cuts import CutResults, cut_run, parse_frames
from tests.campaigns.streams.cutting import FORMATS, begin, read
from tests.campaigns.streams.protocols import Verdicts, judge_run
from tests.campaigns.streams.runs import generate_run

RUN = next(states for states in map(generate_run, range(100)) if len(states[-1].tickets) > 1)
"""An answer with calls."""

SHORT = (0, 2, 4, 5, 6, 10)
"""Seeds of answers with few states: what one costs grows with their square, and `make cuts` has all of them."""


def test_streams_that_break_off_anywhere_come_to_the_same_end() -> None:
    results = CutResults()
    for seed in SHORT:
        cut_run(seed, results, drawn=10)
    assert results.violations == []


async def test_the_models_of_ag_ui_accept_every_event() -> None:
    verdicts = Verdicts()
    for seed in range(25):
        await judge_run(seed, None, verdicts)
    assert verdicts.violations == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_frame_that_comes_twice_is_noticed(name: str) -> None:
    frames = [frame for batch in begin(name, RUN) for frame in batch if frame.id]
    for number in range(len(frames)):
        with pytest.raises(ViolationError):
            read(name, [*frames[: number + 1], *frames[number:]])


@pytest.mark.parametrize(
    ("name", "kind"), [("message", "tool_call"), ("ag-ui", "TOOL_CALL_START"), ("vercel", "tool-input-start")]
)
def test_a_result_without_its_call_is_noticed(name: str, kind: str) -> None:
    frames = [frame for batch in begin(name, RUN) for frame in batch]
    rest = [frame for frame in frames if frame.data == "[DONE]" or json.loads(frame.data)["type"] != kind]
    assert len(rest) < len(frames)
    with pytest.raises(ViolationError):
        read(name, rest)


def test_an_event_that_is_not_whole_does_not_count() -> None:
    assert [frame.id for frame in parse_frames("id: 1\ndata: {}\n\n: still here\n\nid: 2\ndata: {}\n")] == ["1"]
