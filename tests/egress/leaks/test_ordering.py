"""The order of names as people number them."""

from __future__ import annotations

import pytest

from ferryman.egress.leaks.text_pieces import NAME_MAX, build_sort_key


@pytest.mark.parametrize(
    "names",
    [
        ["part1", "part2", "part10", "part100"],
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"],
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"],
        ["Part-One", "part_2", "PART three"],
        ["1b", "2a", "part", "wart"],
        ["a1", "a01x", "a2"],
    ],
)
def test_names_are_in_the_order_of_their_numbers(names: list[str]) -> None:
    backwards = names[::-1]
    assert sorted(backwards, key=build_sort_key) == names


def test_the_end_of_a_name_that_is_too_long_does_not_count() -> None:
    name = "n" * (NAME_MAX - 1)
    assert build_sort_key(name + "12") == build_sort_key(name + "1") != build_sort_key(name + "2")


def test_a_number_and_its_words_have_the_same_place() -> None:
    assert build_sort_key("3") == build_sort_key("three") == build_sort_key("Third") == build_sort_key("- 003 ,")
    assert build_sort_key("three") != build_sort_key("thirds")
