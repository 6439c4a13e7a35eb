"""Evidence: the kinds of values that a text has, and that parameters ask for."""

import pytest

from ferryman.selection.evidence import Evidence, find_in_parameters, find_in_text
from ferryman.selection.words import list_stems


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("on 2026-11-23", Evidence.DATE),
        ("the 3rd of May", Evidence.DATE),
        ("next Tuesday", Evidence.DATE),
        ("tomorrow", Evidence.DATE),
        ("in Boston", Evidence.PLACE),
        ("Springfield, IL", Evidence.PLACE),
        ("at 48.8566, 2.3522", Evidence.COORDINATES),
        ("read https://example.com/a", Evidence.URL),
        ("write to ann@example.org", Evidence.EMAIL),
        ("for €5", Evidence.MONEY),
        ("for 20 dollars", Evidence.MONEY),
        ("the first 7", Evidence.NUMBER),
    ],
)
def test_a_text_has_a_kind_of_value(text, kind):
    assert kind in find_in_text(text)


def test_a_text_without_values_has_none():
    assert find_in_text("list my open invoices") == Evidence(0)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ("start_date", Evidence.DATE),
        ("cityName", Evidence.PLACE),
        ("lat lon", Evidence.COORDINATES),
        ("callbackUrl", Evidence.URL),
        ("email_address", Evidence.EMAIL),
        ("amount", Evidence.MONEY),
    ],
)
def test_parameters_ask_for_a_kind_of_value_by_their_names(names, kind):
    assert kind in find_in_parameters(list_stems(names), numeric=False)


def test_a_parameter_that_is_a_number_asks_for_one():
    assert find_in_parameters([], numeric=True) == Evidence.NUMBER
