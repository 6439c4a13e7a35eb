"""Credentials: what may be registered, and what a secret shows of itself."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from ferryman.domain.credentials.credential import (
    AuthType,
    Credential,
    Grant,
    Secret,
    find_injection_problems,
    find_name_problems,
)
from ferryman.domain.credentials.value import find_value_problems
from ferryman.domain.problem import Problem
from tests.builders import build_label
from tests.canaries.canary import create_key


@pytest.mark.parametrize("name", ["K", "NEWS_API_KEY", "A1", "A" * 64])
def test_a_name_in_capitals_is_accepted(name: str) -> None:
    assert not find_name_problems(name)


@pytest.mark.parametrize("name", ["", "key", "_A", "1A", "A-B", "A B", "A/../B", "A" * 65, "A\n", "Ä"])
def test_another_name_is_refused(name: str) -> None:
    assert find_name_problems(name)


@pytest.mark.parametrize(
    "value",
    [
        *("abcdefgh12345678", "sk-live-abcdefgh1234", "user:abcdefgh12345678"),
        *("abcdefgh1234----", "abcdefghabcdefgh", "abcdefgh12345678" * 256),
    ],
)
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


@pytest.mark.parametrize(
    ("auth_type", "header", "param", "problem"),
    [
        ("header", None, None, ("auth_header_name", "is required when auth_type is header")),
        ("header", "a b", None, ("auth_header_name", "must be an HTTP header name of at most 64 characters")),
        ("header", "Host", None, ("auth_header_name", "is a header that frames the request; name the API's own")),
        ("header", "X-Api-Key", "key", ("auth_param_name", "is only for auth_type query_param")),
        ("bearer", "X-Api-Key", None, ("auth_header_name", "is only for auth_type header")),
        ("bearer", None, "key", ("auth_param_name", "is only for auth_type query_param")),
        ("query_param", "X-Api-Key", None, ("auth_header_name", "is only for auth_type header")),
        ("query_param", None, "a b", ("auth_param_name", "must be letters, digits, '_', '.', '-', at most 64")),
    ],
)
def test_the_problem_of_a_place_says_which_field_to_change_and_how(auth_type, header, param, problem) -> None:
    assert find_injection_problems(AuthType(auth_type), header, param) == [Problem(*problem)]


@pytest.mark.parametrize(
    ("auth_type", "header", "param"),
    [
        *(
            ("bearer", None, None),
            ("query_param", None, None),
            ("query_param", None, "a_b.c-D1"),
            ("query_param", None, "a" * 64),
        ),
        ("header", "a" * 64, None),
    ],
)
def test_a_bearer_token_needs_no_place_and_a_parameter_has_a_default(auth_type, header, param) -> None:
    assert find_injection_problems(AuthType(auth_type), header, param) == []


def test_the_problem_of_a_name_says_what_a_name_is() -> None:
    rule = "must be capital letters, digits and underscores, start with a letter, at most 64"
    assert find_name_problems("key") == [Problem("name", rule)]


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret(create_key("a secret that is shown"))
    assert f"{secret} {secret!r} {secret!s}" == "Secret(…) Secret(…) Secret(…)"
    with pytest.raises(TypeError, match="a secret is not pickled"):
        pickle.dumps(secret)


def test_all_that_must_not_leave_of_a_credential_are_its_token_refresh_token_and_client_secret() -> None:
    token, refresh, client = (Secret(create_key(f"{which} of a credential")) for which in ("token", "refresh", "client"))
    grant = Grant(token_url="https://login.test/", client_id="c")
    credentials = [
        Credential(label=build_label(), secret=token, grant=grant)
        for grant in (None, grant, replace(grant, refresh_token=refresh, client_secret=client))
    ]
    assert [credential.secrets for credential in credentials] == [(token,), (token,), (token, refresh, client)]
    assert credentials[0].name == "K"
