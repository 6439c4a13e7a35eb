"""The rarer notations: a secret in words, word by word, in numbered parts or in a rarer base does not leave either."""

from __future__ import annotations

import base64
import lzma
import unicodedata
from itertools import cycle
from sys import maxunicode

import pytest

from ferryman.egress.leaks import LeakFinding
from ferryman.framing.escapes import replace_lookalikes
from tests.egress.leaks import notations, requests
from tests.egress.leaks.corpus import HOST, KINDS
from tests.egress.leaks.notations import IN_MORE, WAYS
from tests.egress.leaks.trials import ALL, is_found, list_echoes, list_false_positives, list_leaks, list_split_leaks
from tests.figures import Tally

PLACES = ("body value", "body, nested", "query value", "header value", "query_params, in a list")


@pytest.mark.parametrize("group", WAYS)
def test_no_rarer_way_to_write_a_secret_leaves(group: str, tally: Tally) -> None:
    turns = cycle(PLACES)

    def place(written: str) -> list[tuple[str, dict[str, object]]]:
        fields = requests.places(written)
        return [(name, fields[name]) for name in ("body value, in a sentence", next(turns))]

    assert list_leaks(WAYS[group], place, group, tally) == []


@pytest.mark.parametrize("name", IN_MORE)
def test_no_number_made_of_a_text_with_a_secret_leaves(name: str, tally: Tally) -> None:
    missed = []
    for kind, value in KINDS.items():
        written = IN_MORE[name](value)
        if len(written) > 400:
            continue
        passed = is_found(kind, {"body": {"note": f"see {written} there"}})
        tally("leaks out", "other bases", passed)
        missed += [] if passed else [kind]
    assert not missed


def test_a_secret_in_parts_that_are_spread_over_fields_does_not_leave(tally: Tally) -> None:
    assert list_split_leaks(lambda value: notations.splits(value, HOST), tally) == []


@pytest.mark.parametrize("group", WAYS)
def test_an_echo_in_a_rarer_way_is_redacted(group: str, tally: Tally) -> None:
    assert list_echoes(WAYS[group], group, tally) == []


def test_text_that_resembles_these_notations_may_leave(tally: Tally) -> None:
    assert list_false_positives(notations.harmless(), tally) == []


def test_an_archive_that_needs_more_memory_than_there_is_for_it_is_refused() -> None:
    packed = lzma.compress(b"well " * 100, preset=9)
    assert ALL.find(base64.b64encode(packed).decode()) == LeakFinding(None)


def test_an_archive_of_more_than_may_be_looked_through_is_refused() -> None:
    packed = lzma.compress(b"well " * 1_000_000)
    assert ALL.find(base64.b64encode(packed).decode()) == LeakFinding(None)


def test_the_digits_of_every_script_are_read() -> None:
    digits = [chr(code) for code in range(maxunicode + 1) if unicodedata.decimal(chr(code), None) is not None]
    assert [digit for digit in digits if replace_lookalikes(digit) != str(unicodedata.decimal(digit))] == []
