"""Hostile bodies: none makes the scanner raise, or scan much more than its length."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.egress.leaks import SecretScanner, redact_text
from ferryman.egress.leaks.inflate import InflationLimitError
from ferryman.egress.leaks.views import NestingLimitError, iterate_views
from tests.egress.leaks.hostile import BODIES, SIZE, filler
from tests.egress.plants import VALUES, credential
from tests.figures import Tally

SCANNER = SecretScanner([credential(VALUES["prefixed"])])
UNFOLDED_MAX = 60
"""How many times its own length a body of 50,000 characters may decode to; the factor does not grow with the length."""


@pytest.mark.parametrize("kind", BODIES)
def test_a_hostile_body_unfolds_into_a_bounded_length_or_is_refused(kind: str, tally: Tally) -> None:
    unfolded = 0
    try:
        for view in iterate_views(filler(kind)):
            unfolded += len(view)
    except (NestingLimitError, InflationLimitError):
        pass
    tally("leaks, hostile bodies", "bounded", unfolded <= UNFOLDED_MAX * SIZE)
    assert unfolded <= UNFOLDED_MAX * SIZE


@pytest.mark.parametrize("kind", BODIES)
def test_a_secret_in_a_hostile_body_is_found_or_the_body_refused(kind: str) -> None:
    text = filler(kind)
    assert SCANNER.find(f"{text[: SIZE // 2]} {VALUES['prefixed']} {text[SIZE // 2 :]}") is not None


PIECES = st.sampled_from(
    [
        "%25",
        "%u00",
        "&amp;",
        "&#x",
        "\\u{",
        "\\x4",
        "=\n",
        "=4",
        "QUJD",
        "eJw",
        "H4sI",
        "4a",
        "0x",
        "65,",
        "01",
        "U+",
        "\ud800",
        "ﷺ",
    ]
)


@given(st.lists(PIECES | st.text(max_size=6), max_size=60).map("".join))
@settings(max_examples=200, deadline=None)
def test_no_mixture_of_notations_makes_the_scanner_raise(mixture: str) -> None:
    SCANNER.find(mixture)
    redact_text(mixture, SCANNER)


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_no_bytes_that_were_packed_make_it_raise(content: bytes) -> None:
    for body in (content.hex(), content.decode("latin-1"), " ".join(map(str, content))):
        SCANNER.find(body)
        redact_text(body, SCANNER)
