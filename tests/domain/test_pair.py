"""Pairs: a user name with its password is one credential, and one half of it is a secret by itself."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.credentials.credential import AuthType, Credential, Secret
from ferryman.domain.credentials.value import encode_pair, find_pair_problems, get_secret_half, list_pair_secrets
from tests.builders import build_label
from tests.canaries.canary import create_key

PASSWORD = create_key("pair, password", 32)
ACCOUNT = "AC0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    "value",
    [
        f"{ACCOUNT}:{PASSWORD}",
        f"me@shop.test/token:{PASSWORD}",
        f"{PASSWORD}:",
        f"{PASSWORD}:X",
        f":{PASSWORD}",
        f"a:b:{PASSWORD}",
    ],
)
def test_a_pair_of_which_one_half_is_a_secret_is_accepted(value: str) -> None:
    assert find_pair_problems(value) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (PASSWORD, "with a colon between them"),
        ("administrator:hunter2hunter", "the password must be at least 16 characters"),
        ("short:", "must be at least 16 characters"),
        (f"user name:{PASSWORD}", "visible ASCII"),
        (f"user:{PASSWORD}\n", "stray newline"),
        (f"{'u' * 4_096}:{PASSWORD}", "at most 4096 characters"),
    ],
)
def test_another_pair_is_refused_and_the_message_has_nothing_of_it(value: str, message: str) -> None:
    (problem,) = find_pair_problems(value)
    assert problem.field == "value"
    assert message in problem.message
    assert PASSWORD not in problem.message


@pytest.mark.parametrize(
    ("value", "half"),
    [
        (f"{ACCOUNT}:{PASSWORD}", PASSWORD),
        (f"{PASSWORD}:X", PASSWORD),
        (f"{PASSWORD}:api_token", PASSWORD),
        (f"{PASSWORD}:", PASSWORD),
        (f":{PASSWORD}", PASSWORD),
        (f"a:b:{PASSWORD}", f"b:{PASSWORD}"),
    ],
)
def test_the_secret_half_is_the_password_or_the_key_in_the_place_of_the_user_name(value: str, half: str) -> None:
    assert get_secret_half(value) == half


def test_a_pair_is_sent_as_the_standard_says() -> None:
    assert encode_pair("Aladdin:open sesame") == "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="  # RFC 7617, 2


@given(
    user=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters=":"), max_size=40),
    other=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters=":"), max_size=40),
)
def test_the_secret_part_of_the_base64_does_not_depend_on_the_user_name(user: str, other: str) -> None:
    """Otherwise an upstream that quotes a cursor made of the user name would be redacted."""
    whole, half, coded = list_pair_secrets(f"{user}:{PASSWORD}")
    assert (whole, half) == (f"{user}:{PASSWORD}", PASSWORD)
    assert coded in base64.b64encode(whole.encode()).decode()
    assert len(coded) >= len(PASSWORD) * 4 // 3 - 1
    if len(user) % 3 == len(other) % 3:
        assert list_pair_secrets(f"{other}:{PASSWORD}")[2] == coded


def test_all_secrets_of_a_basic_credential_must_not_leave() -> None:
    value = f"{ACCOUNT}:{PASSWORD}"
    credential = Credential(label=build_label(auth_type=AuthType.BASIC), secret=Secret(value))
    assert tuple(secret.reveal() for secret in credential.secrets) == list_pair_secrets(value)
