"""Credentials: what may be registered, and what a secret shows of itself."""

from __future__ import annotations

import pickle

import pytest

from ferryman.domain.credentials.credential import (
    AuthType,
    Secret,
    find_injection_problems,
    find_name_problems,
    find_value_problems,
)


@pytest.mark.parametrize("name", ["K", "NEWS_API_KEY", "A1", "A" * 64])
def test_a_name_in_capitals_is_accepted(name: str) -> None:
    assert not find_name_problems(name)


@pytest.mark.parametrize("name", ["", "key", "_A", "1A", "A-B", "A B", "A/../B", "A" * 65, "A\n", "Ä"])
def test_another_name_is_refused(name: str) -> None:
    assert find_name_problems(name)


@pytest.mark.parametrize("value", ["abcdefgh12345678", "sk-live-abcdefgh1234", "user:abcdefgh12345678"])
def test_a_strong_value_is_accepted(value: str) -> None:
    assert not find_value_problems(value)


@pytest.mark.parametrize(
    "value",
    [
        *("", "short", "abcdefgh1234567", "abcdefgh12345678\n", " abcdefgh12345678", "abcdefgh 12345678"),
        *("abcdefgh123-----", "aaaaaaaa1111111122", "a" * 4097, "abcdefgh12345678\x00", "abcdefgh1234567é"),
    ],
)
def test_a_weak_or_malformed_value_is_refused_without_repeating_it(value: str) -> None:
    problems = find_value_problems(value)
    assert problems
    assert len(value) < 6 or value not in problems[0].message


@pytest.mark.parametrize(
    "header",
    [
        *("Host", "host", "Content-Length", "Cookie", "Transfer-Encoding", "X-Forwarded-For", "Proxy-Authorization"),
        *("Sec-Fetch-Mode", "Metadata-Flavor", "X-Goog-User-Project", "Bad Header", "Bad\nHeader", "", "a" * 65),
    ],
)
def test_a_header_that_frames_the_request_is_no_place_for_a_credential(header: str) -> None:
    assert find_injection_problems(AuthType.HEADER, header, None)


@pytest.mark.parametrize("header", ["X-Api-Key", "X-CMC_PRO_API_KEY", "Authorization", "apikey"])
def test_an_api_s_own_header_is(header: str) -> None:
    assert not find_injection_problems(AuthType.HEADER, header, None)


def test_a_header_credential_needs_its_header() -> None:
    assert find_injection_problems(AuthType.HEADER, None, None)


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret("abcdefgh12345678")
    assert "abcdefgh" not in f"{secret}{secret!r}{secret!s}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
