"""The fuzzer's targets, driven by hypothesis: no exception but a refusal comes of hostile bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.campaigns.fuzz.seeds import SEEDS
from tests.campaigns.fuzz.targets import TARGETS

EXAMPLES = {
    **{"url": 400, "scanner": 60, "framer": 150, "reader": 200, "gate": 100, "archive": 100},
    **{"mcp": 300, "mcp_answer": 400},
}


def hostile(name: str) -> st.SearchStrategy[bytes]:
    """Generate bytes, and seeds with a part of them replaced."""
    seeds = st.sampled_from(SEEDS[name])
    spliced = st.builds(
        lambda seed, at, cut, put: seed[:at] + put + seed[at + cut :],
        seeds,
        st.integers(0, 200),
        st.integers(0, 40),
        st.binary(max_size=40),
    )
    return spliced | st.binary(max_size=200) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", TARGETS)
def test_hostile_bytes_are_an_answer_or_a_refusal(name: str) -> None:
    @given(hostile(name))
    @settings(max_examples=EXAMPLES[name], deadline=None)
    def driven(data: bytes) -> None:
        TARGETS[name](data)

    driven()


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_is_an_answer_or_a_refusal(name: str) -> None:
    for seed in SEEDS[name][:150]:
        TARGETS[name](seed)
