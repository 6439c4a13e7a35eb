"""The demo's proof finds a key in whatever form it was kept, and nothing where there is none."""

from __future__ import annotations

import base64
import string

from hypothesis import given
from hypothesis import strategies as st

from ferryman.cli.demo.proof import drop_header, encode_forms, extract_header, flatten, search
from ferryman.cli.demo.story import ECHOED, REDACTED, extract_redaction, generate_key

KEYS = st.text(string.ascii_letters + string.digits, min_size=20, max_size=60)
AROUND = st.binary(max_size=20)


def count_hits(thing: bytes, key: str) -> int:
    return search("here", [thing], encode_forms(key)).hits


@given(key=KEYS, before=AROUND, after=AROUND)
def test_a_key_in_base64_is_found_at_any_offset(key: str, before: bytes, after: bytes) -> None:
    whole = before + key.encode() + after
    assert count_hits(base64.b64encode(whole), key)
    assert count_hits(base64.urlsafe_b64encode(whole), key)


@given(key=KEYS, before=AROUND, after=AROUND)
def test_a_key_plain_reversed_or_in_hex_is_found(key: str, before: bytes, after: bytes) -> None:
    whole = before + key.encode() + after
    assert all(count_hits(form, key) for form in (whole, whole[::-1], whole.hex().encode(), whole.hex().upper().encode()))


@given(key=KEYS)
def test_a_percent_encoded_key_is_found(key: str) -> None:
    assert count_hits("".join(f"%{byte:02X}" for byte in key.encode()).encode(), key)


@given(other=st.binary(max_size=500))
def test_what_has_no_key_in_it_is_clean(other: bytes) -> None:
    assert not count_hits(other, generate_key())


def test_a_key_is_found_at_any_depth_of_a_document() -> None:
    document = {"a": [{"b": ("x", b"..the-key-0123456789..")}], "the-key-0123456789": None}
    assert count_hits(flatten(document["a"]), "the-key-0123456789")
    assert count_hits(flatten({"the-key-0123456789": None}), "the-key-0123456789")


def test_a_request_is_searched_but_for_the_one_header() -> None:
    request = {"path": "/", "query": "", "headers": [["Authorization", "Bearer the-key-0123456789"]], "body": ""}
    assert not count_hits(drop_header(request, "authorization"), "the-key-0123456789")
    assert count_hits(extract_header(request, "authorization"), "the-key-0123456789")
    assert count_hits(drop_header(request | {"query": "q=the-key-0123456789"}, "authorization"), "the-key-0123456789")


def test_what_the_model_saw_of_the_echo_is_empty_where_the_execution_ended_before() -> None:
    calls = [{"content": f"Bearer {REDACTED}"} for _ in range(ECHOED + 1)]
    assert [extract_redaction(calls[:length]) for length in (0, ECHOED)] == ["", ""]
    assert extract_redaction(calls) == f"…Bearer {REDACTED}…"
