"""Blocks of any type come to rest without a credential; one that its provider signed unchanged, or not at all."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.egress.leaks import SecretScanner, redact_blocks
from tests.canaries import canary
from tests.egress.leaks.test_said import HEAD, MARK, SCANNER, TAIL, VALUE, text, use

SIGNATURE = base64.b64encode(bytes(range(256)) * 8).decode()
ENCRYPTED = {"type": "redacted_thinking", "data": SIGNATURE}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rain"}}


def think(words: str, signature: str = SIGNATURE) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": signature}


def build_result(title: str, **fields: Any) -> dict[str, Any]:
    result = {"type": "web_search_result", "title": title, "url": "https://a.test/", "encrypted_content": SIGNATURE}
    return {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{**result, **fields}]}


CLEAN = [
    think("hm"),
    ENCRYPTED,
    {**text("I look."), "citations": [{"cited_text": "x"}]},
    SEARCH,
    build_result("Rain"),
    use(url="u"),
]


def test_blocks_of_any_type_that_hold_no_credential_stay_as_they_are() -> None:
    assert redact_blocks(CLEAN, SCANNER) == CLEAN


def test_what_a_provider_encrypted_is_no_credential_by_chance() -> None:
    keys = [canary.create_key(f"by chance {number}") for number in range(3)]
    scanner = SecretScanner([credential_of(key, number) for number, key in enumerate(keys)])
    assert redact_blocks(CLEAN, scanner) == CLEAN


def credential_of(value: str, number: int) -> Any:
    from tests.egress.plants import credential

    return credential(value, f"KEY{number}")


@pytest.mark.parametrize("block", [think(f"it is {VALUE}"), think("hm", VALUE), {**ENCRYPTED, "data": f"x{VALUE}"}])
def test_a_signed_block_with_a_key_is_left_out_with_every_other_of_its_turn(block: dict[str, Any]) -> None:
    content = [think("one"), block, text("I look."), ENCRYPTED, use(url="https://a.test/")]
    assert redact_blocks(content, SCANNER) == [text("I look."), use(url="https://a.test/")]


def test_a_key_split_over_two_thoughts_does_not_stay() -> None:
    assert redact_blocks([think(HEAD), think(TAIL), text("x")], SCANNER) == [text("x")]


def test_a_key_split_over_a_thought_and_a_text_does_not_stay() -> None:
    assert redact_blocks([think(HEAD), text(TAIL)], SCANNER) == [text(MARK)]


def test_a_summary_with_a_key_is_left_out() -> None:
    assert redact_blocks([{"type": "compaction", "content": VALUE, "encrypted_content": "x"}, text("x")], SCANNER) == [
        text("x")
    ]


def test_a_result_of_a_servers_tool_is_redacted_in_its_place() -> None:
    content = [SEARCH, build_result(f"the key is {VALUE}"), text("x")]
    assert redact_blocks(content, SCANNER) == [SEARCH, build_result(f"the key is {MARK}"), text("x")]


def test_a_key_in_a_citation_is_taken_out_of_it() -> None:
    cited = {**text("x"), "citations": [{"type": "char_location", "cited_text": f"a {VALUE}"}]}
    assert redact_blocks([cited], SCANNER) == [{**cited, "citations": [{"type": "char_location", "cited_text": f"a {MARK}"}]}]


def test_a_key_in_the_type_of_an_unknown_block_is_taken_out() -> None:
    assert redact_blocks([{"type": VALUE, "a": 1}], SCANNER) == [{"type": MARK, "a": 1}]


def test_a_key_in_the_name_of_a_field_is_taken_out() -> None:
    assert redact_blocks([{"type": "dream", VALUE: 1}], SCANNER) == [{"type": "dream", MARK: 1}]


def test_a_block_of_which_nothing_can_be_kept_becomes_a_text() -> None:
    assert redact_blocks([{"type": "dream", HEAD: TAIL}], SCANNER) == [text(MARK)]


def test_a_call_stays_in_its_place_whatever_fields_it_has() -> None:
    call = {**use(url="u"), "signature": VALUE}
    assert redact_blocks([think("hm"), call], SCANNER) == [think("hm"), {**call, "signature": MARK}]


VALUES = st.text(max_size=4) | st.sampled_from([HEAD, TAIL, VALUE]) | st.lists(st.sampled_from([HEAD, TAIL]), max_size=2)
NAMES = st.sampled_from(["thinking", "signature", "text", "id", "content", HEAD, TAIL, "input"])
ANY = st.builds(
    lambda kind, fields: {**fields, "type": kind}, st.sampled_from(["dream", HEAD, "thinking"]), st.dictionaries(NAMES, VALUES)
)


@given(st.lists(ANY, max_size=4))
@settings(max_examples=100, deadline=None)
def test_no_block_of_an_unknown_shape_keeps_a_key(content: list[dict[str, Any]]) -> None:
    seen = redact_blocks(content, SCANNER)
    assert all(isinstance(block["type"], str) for block in seen)
    assert SCANNER.find(json.dumps(seen)) is None
