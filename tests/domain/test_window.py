"""What of a text may be shown while its end is held back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.conversations.window import WindowPart, decide, measure_end

WORDS = st.lists(st.text("ab ", max_size=20), max_size=4)


def test_the_end_of_all_texts_together_is_held_back() -> None:
    assert decide(["abcdef", "gh"], ["abcdef", "gh"], held_back=4) == [WindowPart("abcd", 4), WindowPart("", 0)]


def test_a_text_that_others_follow_for_long_is_shown_whole() -> None:
    assert decide(["ab", "cdefgh"], ["ab", "cdefgh"], held_back=4) == [WindowPart("ab", 2), WindowPart("cd", 2)]


def test_where_nothing_is_held_back_everything_is_shown() -> None:
    assert decide(["ab", "c"], ["ab", "c"], held_back=0) == [WindowPart("ab", 2), WindowPart("c", 1)]


def test_what_the_scan_has_cut_out_is_replaced_once_the_text_goes_on() -> None:
    assert decide(["at KEY and on"], ["at [x] and on"], held_back=3) == [WindowPart("at [x] and", 10)]


def test_before_that_nothing_is_shown_from_there_on() -> None:
    assert decide(["at KEY and on"], ["at [x] and on"], held_back=8) == [WindowPart("at ", 3)]


def test_a_text_that_the_scan_has_emptied_is_not_shown() -> None:
    assert decide(["at KEY and on"], ["[omitted]"], held_back=3) == [WindowPart("", 0)]


@given(WORDS, st.integers(0, 30))
def test_of_clean_texts_all_but_the_end_is_shown(texts: list[str], held_back: int) -> None:
    parts = decide(texts, texts, held_back=held_back)
    whole = "".join(texts)
    assert "".join(part.text for part in parts) == whole[: max(0, len(whole) - held_back)]
    assert [part.decided for part in parts] == [len(part.text) for part in parts]


@given(WORDS, st.data())
def test_no_more_is_shown_than_the_scan_left(texts: list[str], data: st.DataObject) -> None:
    clean = [data.draw(st.text("ab []", max_size=20)) for _ in texts]
    parts = decide(texts, clean, held_back=data.draw(st.integers(0, 10)))
    assert all(scanned.startswith(part.text) for part, scanned in zip(parts, clean, strict=True))
    assert all(0 <= part.decided <= len(text) for part, text in zip(parts, texts, strict=True))


def test_of_words_four_times_the_longest_credential_is_held_back() -> None:
    assert measure_end(["one two ", "three four"], 3) == 12


def test_an_escape_and_a_number_count_as_four_characters_at_most() -> None:
    spelled = "&amp;#115;\\\\\\u0073%252573 01110011, "
    assert measure_end([f"and so on {spelled}"], 4) == len(spelled)


def test_separators_count_as_one() -> None:
    assert measure_end(["abc\n------\nabc"], 1) == len("\n------\nabc")


@given(st.text("a1&#;\\u%0 -"), st.integers(0, 9))
def test_no_less_than_that_is_held_back_and_no_more_than_there_is(text: str, longest: int) -> None:
    assert min(len(text), 4 * longest) <= measure_end([text], longest) <= len(text)


def test_of_a_text_that_is_held_back_whole_nothing_is_shown_whatever_the_scan_puts_before_it() -> None:
    assert decide(["abc"], ["[x]abc"], held_back=3) == [WindowPart("", 0)]
