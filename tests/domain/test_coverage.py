"""Coverage: what was sent of each secret is stored and read back, within a bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.credentials.coverage import BYTES_MAX, NOTHING, Coverage

EMPTY_BYTES = len(Coverage({"": 0}).encode())


@given(st.dictionaries(st.text(max_size=10), st.integers(min_value=0, max_value=2**4096), max_size=5))
def test_it_is_read_as_it_was_written(sent):
    assert Coverage.decode(Coverage(sent).encode()) == Coverage(sent)


def test_of_a_secret_that_was_not_sent_there_is_no_position():
    assert (NOTHING.get("digest"), Coverage({"digest": 0b101}).get("digest")) == (0, 0b101)


def test_the_order_in_which_secrets_were_sent_is_not_told():
    assert Coverage({"a": 1, "b": 2}).encode() == Coverage({"b": 2, "a": 1}).encode()


def test_it_takes_65536_bytes_at_most():
    longest = Coverage({"x" * (BYTES_MAX - EMPTY_BYTES): 0})
    assert len(longest.encode()) == BYTES_MAX == 65_536
    with pytest.raises(ValueError, match="more than 65536 bytes"):
        Coverage({"x" * (BYTES_MAX - EMPTY_BYTES + 1): 0}).encode()


@pytest.mark.parametrize("encoded", [b"", b"[]", b'"a"', b"{", b'{"digest": "xyz"}', b'{"digest": null}', b"\xff"])
def test_other_bytes_are_refused(encoded):
    with pytest.raises(ValueError):
        Coverage.decode(encoded)


def test_a_value_that_is_no_object_is_named():
    with pytest.raises(ValueError, match=r"^not a coverage$"):
        Coverage.decode(b"[]")
