"""What the model said comes to rest without a credential, whatever it is split over, and keeps its shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.executions.message import join_text
from ferryman.egress.leaks import SecretScanner, redact_blocks
from tests.canaries import canary
from tests.egress.plants import NOTATIONS, VALUES, credential

# Half of it is less than what is a leak by itself, and none of its letters is one that JSON, or the address below, writes of
# its own accord: with two of those at its end, a half would be a leak.
VALUE = canary.create_key("what the model says", 20, "GHJKVWYZghjkvwyz")
HEAD, TAIL = VALUE[:10], VALUE[10:]
SCANNER = SecretScanner([credential(VALUE, "KEY")])
MARK = "[redacted:KEY]"


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(number: int = 1, name: str = "http_get", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}


def test_what_holds_no_credential_stays_as_it_is() -> None:
    content = [text("I look it up."), use(url="https://a.test/v1", query_params={"n": 3, "deep": [None, True]})]
    assert redact_blocks(content, SCANNER) == content


def test_a_key_in_one_place_is_taken_out_of_it() -> None:
    content = [text(f"the key is {VALUE}!"), use(url=f"https://a.test/{VALUE}", n=1)]
    assert redact_blocks(content, SCANNER) == [text(f"the key is {MARK}!"), use(url=f"https://a.test/{MARK}", n=1)]


@pytest.mark.parametrize("between", [[], [use(url="https://a.test/")]])
def test_a_key_split_over_two_texts_does_not_stay(between: list[Any]) -> None:
    seen = redact_blocks([text(HEAD), *between, text(TAIL), use(2, url="https://b.test/")], SCANNER)
    assert seen == [text(MARK), *between, text(MARK), use(2, url="https://b.test/")]
    assert SCANNER.find(join_text(seen)) is None


@pytest.mark.parametrize("url", ["https://a.test/v1/{}", "https://a.test/v1?q={}", "https://a.test/#{}", "https://{}.a.test/"])
def test_a_key_split_over_the_urls_of_two_calls_does_not_stay(url: str) -> None:
    content = [
        use(1, method="GET", url=url.format(HEAD)),
        use(2, method="GET", url=url.format(TAIL)),
        use(3, url="https://b.test/"),
    ]
    seen = redact_blocks(content, SCANNER)
    assert [block["input"] for block in seen] == [{"redacted": MARK}, {"redacted": MARK}, {"url": "https://b.test/"}]


def test_a_key_split_over_the_arguments_of_two_calls_does_not_stay() -> None:
    content = [use(1, url="https://a.test/", body={"a": HEAD}), use(2, url="https://a.test/", body={"a": TAIL})]
    assert [block["input"] for block in redact_blocks(content, SCANNER)] == [{"redacted": MARK}] * 2


def test_a_key_split_inside_one_call_takes_its_arguments_with_it() -> None:
    for arguments in ({"a": HEAD, "b": TAIL}, {"url": f"https://a.test/{HEAD}?q={TAIL}"}, {HEAD: 1, TAIL: 2}):
        assert redact_blocks([text("Hello."), use(**arguments)], SCANNER) == [text("Hello."), use(redacted=MARK)]


def test_a_key_split_over_a_text_and_a_call_does_not_stay() -> None:
    assert redact_blocks([text(HEAD), use(url=TAIL)], SCANNER) == [text(MARK), use(redacted=MARK)]


def test_an_address_beside_it_does_not_hide_a_half() -> None:
    seen = redact_blocks([text(f"https://a.test/ {HEAD}"), text(f"{TAIL} https://a.test/")], SCANNER)
    assert seen == [text(MARK), text(MARK)]


def test_a_key_split_over_the_names_of_two_tools_does_not_stay() -> None:
    assert [block["name"] for block in redact_blocks([use(1, HEAD), use(2, TAIL)], SCANNER)] == [MARK, MARK]


def test_a_key_in_an_id_or_a_name_is_taken_out() -> None:
    seen = redact_blocks([{"type": "tool_use", "id": VALUE, "name": f"x{VALUE}", "input": {}}], SCANNER)
    assert seen == [{"type": "tool_use", "id": MARK, "name": f"x{MARK}", "input": {}}]


def test_a_key_that_is_split_twice_does_not_stay() -> None:
    seen = redact_blocks([text(HEAD), text(TAIL), text(HEAD), text(TAIL)], SCANNER)
    assert HEAD not in repr(seen)
    assert TAIL not in repr(seen)


def test_a_key_spread_over_more_parts_than_are_tried_takes_them_all() -> None:
    assert redact_blocks([text(character) for character in VALUE], SCANNER) == [text(MARK)] * len(VALUE)


def test_arguments_nested_too_deeply_are_not_kept_with_a_key() -> None:
    nest: Any = VALUE
    for _ in range(5_000):
        nest = [nest]
    assert redact_blocks([use(body=nest)], SCANNER) == [use(redacted=MARK)]


def test_without_credentials_everything_stays() -> None:
    assert redact_blocks([text(VALUE)], SecretScanner(())) == [text(VALUE)]


ARGUMENTS = st.recursive(
    st.none() | st.integers() | st.text() | st.sampled_from([HEAD, TAIL, VALUE, NOTATIONS["base64"](VALUE)]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.sampled_from([HEAD, TAIL]), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.text(max_size=8) | st.sampled_from([HEAD, TAIL, f"x {VALUE} y", VALUES["hex"]])
BLOCKS = WORDS.map(text) | st.builds(
    lambda name, arguments: {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments},
    WORDS,
    st.dictionaries(st.text(max_size=4), ARGUMENTS, max_size=3),
)


@given(st.lists(BLOCKS, max_size=5))
@settings(max_examples=150, deadline=None)
def test_the_shape_stays_and_the_key_does_not(content: list[dict[str, Any]]) -> None:
    seen = redact_blocks(content, SCANNER)
    assert [(block["type"], list(block)) for block in seen] == [(block["type"], list(block)) for block in content]
    for block in seen:
        types = {field: type(value) for field, value in block.items()}
        assert types == {field: dict if field == "input" else str for field in block}
    assert SCANNER.find(join_text(seen)) is None
    assert SCANNER.find(json.dumps(seen)) is None


# a word that ends as one half does would make a leak of the key with the other, and that alone would go
APART = "".join(letter for letter in "wxyz !" if letter not in VALUE.lower())


@given(cut=st.integers(len(VALUE) - 11, 11), before=st.lists(st.text(APART, max_size=5), max_size=2))
@settings(max_examples=60, deadline=None)
def test_of_a_key_cut_into_halves_too_short_to_be_found_neither_stays(cut: int, before: list[str]) -> None:
    seen = redact_blocks([*map(text, before), text(VALUE[:cut]), text(VALUE[cut:])], SCANNER)
    assert VALUE[:cut] not in join_text(seen)
    assert VALUE[cut:] not in join_text(seen)
