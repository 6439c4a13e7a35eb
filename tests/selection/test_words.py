"""Words: names and texts meet in the same stems, whatever their spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.selection.words import list_stems, split_words


@pytest.mark.parametrize(
    "name", ["get_weather_forecast", "getWeatherForecast", "get-weather.Forecast", "GET weather forecasts"]
)
def test_every_spelling_of_a_name_has_the_same_stems(name):
    assert list_stems(name) == list_stems("get weather forecast")


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("restaurants", "restaurant"),
        ("cities", "city"),
        ("calculation", "calculate"),
        ("calculating", "calculator"),
        ("booking", "booked"),
        ("stopped", "stops"),
    ],
)
def test_endings_do_not_tell_words_apart(word, other):
    assert list_stems(word) == list_stems(other)


@pytest.mark.parametrize(("word", "other"), [("new", "news"), ("status", "state"), ("bus", "busy"), ("gas", "gather")])
def test_different_words_stay_apart(word, other):
    assert list_stems(word) != list_stems(other)


def test_words_that_say_nothing_are_dropped():
    assert list_stems("Could you please help me with 3 of these") == []


def test_words_of_other_scripts_are_kept():
    assert list_stems("погода в Москве") != []


@given(st.text(max_size=200))
def test_places_rise_and_are_inside_the_text(text):
    places = [place for place, _ in split_words(text)]
    assert places == sorted(set(places))
    assert all(0 <= place < len(text) for place in places)
