"""Challenges: what WWW-Authenticate asks for, of any spelling, in linear time."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.tools.mcp.authorization.challenge import NO_CHALLENGE, Challenge, read_challenge
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError

PLACE = "https://tools.example.com/metadata.json"


def test_the_place_of_the_metadata_and_the_scopes_are_read() -> None:
    header = f'Bearer resource_metadata="{PLACE}", scope="read write"'
    assert read_challenge([header]) == Challenge(resource_metadata=PLACE, scopes=("read", "write"))


def test_names_are_read_in_any_case_and_spacing() -> None:
    assert read_challenge(['bearer  Scope = "read" ,ERROR=insufficient_scope']).scopes == ("read",)


def test_more_scopes_are_needed_where_the_error_says_so() -> None:
    assert read_challenge(['Bearer error="insufficient_scope", scope="write"']).needs_more_scopes
    assert not read_challenge(['Bearer error="invalid_token"']).needs_more_scopes


def test_a_comma_or_a_scheme_in_a_quoted_text_begins_nothing() -> None:
    header = 'Bearer error_description="no, Bearer scope=all", scope="read"'
    assert read_challenge([header]).scopes == ("read",)


def test_an_escaped_quote_ends_no_text() -> None:
    assert read_challenge([r'Bearer realm="a\", scope=\"all", scope="read"']).scopes == ("read",)


def test_parameters_of_another_scheme_are_not_the_bearers() -> None:
    assert read_challenge(['Basic realm="x", Bearer scope="read", Digest scope="write"']).scopes == ("read",)
    assert read_challenge(['Basic scope="all"']) == NO_CHALLENGE


def test_a_second_header_is_read_where_the_first_has_no_bearer() -> None:
    assert read_challenge(["Negotiate", 'Bearer scope="read"']).scopes == ("read",)


def test_a_parameter_named_twice_is_refused() -> None:
    with pytest.raises(AuthorizationFailedError, match="twice"):
        read_challenge(['Bearer scope="read", scope="write"'])


def test_more_scopes_than_a_consent_may_have_are_refused() -> None:
    with pytest.raises(AuthorizationFailedError, match="more than 50 scopes"):
        read_challenge([f'Bearer scope="{" ".join(map(str, range(51)))}"'])


def test_a_scope_with_hidden_characters_is_refused() -> None:
    with pytest.raises(AuthorizationFailedError, match="no scope"):
        read_challenge(['Bearer scope="re\u202ead"'])


def test_a_header_over_its_bound_is_refused() -> None:
    with pytest.raises(AuthorizationFailedError, match="8,192 characters"):
        read_challenge(["Bearer scope=a", "x" * 8_192])


@given(st.lists(st.text(max_size=300), max_size=5))
def test_any_headers_are_read_or_refused(headers: list[str]) -> None:
    with suppress(AuthorizationFailedError):
        read_challenge(headers)
