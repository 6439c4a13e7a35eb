"""Pairs: a user name with its password is found whole, in base64 and by its secret half, and its public half is not."""

from __future__ import annotations

import base64

import pytest

from ferryman.domain.credentials.credential import AuthType
from ferryman.egress.leaks import SecretScanner, redact_text
from ferryman.tools.known_secrets import make_scan_only
from tests.canaries.canary import create_key
from tests.egress.plants import HOST, credential, outbound

PASSWORD = create_key("leaks, a pair's password", 32, "0123456789abcdef")
ACCOUNT = "AC0123456789abcdef0123456789abcdef"
PAIR = f"{ACCOUNT}:{PASSWORD}"
CODED = base64.b64encode(PAIR.encode()).decode()
KEY = create_key("leaks, a key as a user name", 24, before="sk-live-")


def scanner(value: str = PAIR) -> SecretScanner:
    return SecretScanner([credential(value, "TWILIO", kind=AuthType.BASIC)])


@pytest.mark.parametrize(
    "text",
    {
        "the pair": PAIR,
        "the header": f"Authorization: Basic {CODED}",
        "the password": f"token={PASSWORD}",
        "the password backwards": PASSWORD[::-1],
        "the pair in base64 in a longer text": base64.b64encode(f"x{PAIR}y".encode()).decode(),
        "the password in base64": base64.b64encode(PASSWORD.encode()).decode(),
        "the base64 backwards": CODED[::-1],
        "the base64 spaced": " ".join(CODED),
        "the end of the base64": CODED[-24:],
        "the middle of the base64": CODED[52:76],
        "the base64 in hexadecimal": CODED.encode().hex(),
        "the base64 in base64": base64.b64encode(CODED.encode()).decode(),
        "half of the password": PASSWORD[:16],
    }.items(),
    ids=lambda item: item[0],
)
def test_a_pair_is_found_and_redacted(text: tuple[str, str]) -> None:
    redacted = redact_text(f"It was: {text[1]} .", scanner())
    assert (scanner().find(text[1]) is not None, "[redacted:TWILIO]" in redacted) == (True, True)
    assert not any(part in redacted for part in (PASSWORD, PASSWORD[:16], CODED[-24:], CODED[52:76]))


def test_a_pair_whose_base64_is_told_in_pieces_is_redacted() -> None:
    redacted = redact_text(f'{{"first": "{CODED[:70]}", "second": "{CODED[70:]}"}}', scanner())
    assert CODED[52:70] not in redacted
    assert CODED[70:90] not in redacted


@pytest.mark.parametrize(
    "text", [ACCOUNT, f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json", base64.b64encode(f"{ACCOUNT}:".encode()).decode()]
)
def test_the_user_name_is_public_next_to_a_password_that_is_a_secret(text: str) -> None:
    assert scanner().find(text) is None
    assert redact_text(text, scanner()) == text
    assert scanner().find_in_request(outbound(url=f"https://{HOST}/{text}", body={"a": text})) is None


@pytest.mark.parametrize("password", ["", "X", "x-oauth-basic", "api_token", "unused"])
def test_a_key_in_the_place_of_the_user_name_is_found_and_the_word_beside_it_is_not(password: str) -> None:
    pair = f"{KEY}:{password}"
    for text in (KEY, pair, base64.b64encode(pair.encode()).decode(), base64.b64encode(pair.encode()).decode()[2:30]):
        assert scanner(pair).find(text) is not None
    assert scanner(pair).find(f"The parameter {password} is an api_token; x-oauth-basic is unused.") is None


@pytest.mark.parametrize("before", ["/", "x/", "//"])
def test_a_password_with_slashes_is_found_by_itself(before: str) -> None:
    assert scanner(f"{ACCOUNT}:{before}{PASSWORD}").find(f"{before}{PASSWORD[:20]}") is not None


@pytest.mark.parametrize("before", ["/", "x/"])
def test_a_user_name_before_a_slash_is_public(before: str) -> None:
    assert scanner(f"{ACCOUNT}:{before}{PASSWORD}").find(ACCOUNT) is None


def test_a_former_pair_is_found_as_the_present_one_is() -> None:
    former = make_scan_only(credential(PAIR, "TWILIO", kind=AuthType.BASIC))
    scan = SecretScanner(former.values())
    assert all(scan.find(text) for text in (PAIR, PASSWORD, CODED, CODED[-24:]))
    assert scan.find(ACCOUNT) is None
