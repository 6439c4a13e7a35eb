"""Links, addresses and account numbers in a text."""

from __future__ import annotations

import pytest

from ferryman.domain.flow.identifiers import IDENTIFIERS_MAX, list_identifiers
from tests.linear import find_growth


@pytest.mark.parametrize(
    "identifier",
    [
        "https://evil.test/x?y=1",
        "www.evil.test",
        "evil.com",
        "evil.com/path",
        "README.md/x",
        "ann@mail.test",
        "GB29NWBK60161331926819",
        "GB29 NWBK 6016 1331 9268 19",
        "4237-4252-7456-2574",
        "4237 4252 7456 2574",
        "123456789012",
    ],
)
def test_it_is_found_in_a_sentence(identifier):
    assert list(list_identifiers(f"Please see {identifier}, it matters.")) == [identifier]


@pytest.mark.parametrize(
    "text", ["on 2024-05-19 at 12:00", "report.docx", "README.md", "e.g. this", "the U.S. economy", "call 555 1234"]
)
def test_what_leads_nowhere_is_none(text):
    assert list(list_identifiers(text)) == []


def test_there_are_never_more_than_are_judged_and_one():
    assert len(list(list_identifiers(" ".join(f"a{number}@b.test" for number in range(1_000))))) == IDENTIFIERS_MAX + 1


@pytest.mark.parametrize("unit", ["1-", "1234 ", "a.", "a-", "AA11 AAAA ", "w.", "a@"])
def test_it_takes_linear_time(unit):
    growth = find_growth(
        lambda text: list(list_identifiers(text)), lambda size: unit * (size // len(unit)), [2**12, 2**13, 2**14]
    )
    assert growth is None, str(growth)
