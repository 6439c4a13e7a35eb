"""The cookie of a session: nothing but what a key of the api has signed is one."""

from __future__ import annotations

import httpx
import pytest

from ferryman.ports.keys import KeyPurpose
from ferryman.serving.console.cookies import NAME, read_cookie, write_cookie
from ferryman.vault.purpose_keys import derive_purpose_key
from tests.serving.values import API_KEY

from .conftest import Browser

SIGNING = {1: derive_purpose_key(API_KEY, KeyPurpose.SESSIONS)}
MINE = {1: b"k" * 32}
"""A key of an attacker's."""


def test_a_cookie_names_the_session_that_it_was_written_for() -> None:
    session = read_cookie(SIGNING, write_cookie(SIGNING, "session_ann"))
    assert session is not None
    assert session.id == "session_ann"


def test_a_cookie_with_any_other_character_is_none() -> None:
    cookie = write_cookie(SIGNING, "session_ann")
    for place, character in enumerate(cookie):
        forged = cookie[:place] + ("1" if character != "1" else "2") + cookie[place + 1 :]
        assert read_cookie(SIGNING, forged) is None


def test_a_cookie_of_a_key_that_is_not_there_is_none() -> None:
    assert read_cookie({2: SIGNING[1]}, write_cookie(SIGNING, "session_ann")) is None


def test_the_token_of_a_form_is_that_of_its_session_and_its_path() -> None:
    session, other = (read_cookie(SIGNING, write_cookie(SIGNING, name)) for name in ("session_a", "session_b"))
    assert session is not None
    assert other is not None
    token = session.write_form_token("/console/approvals/appr_a")
    assert session.accepts_form_token(token, "/console/approvals/appr_a")
    assert not session.accepts_form_token(token, "/console/approvals/appr_b")
    assert not other.accepts_form_token(token, "/console/approvals/appr_a")


async def test_the_cookie_of_the_api_lets_in(browser: Browser) -> None:
    cookie = browser.http.cookies[NAME]
    session = read_cookie(SIGNING, cookie)
    assert session is not None
    assert cookie.split(".")[1] == session.id


@pytest.mark.parametrize(
    "forge", ["signed with another key", "without a signature", "an empty signature", "another version", "an id"]
)
async def test_a_forged_cookie_lets_nobody_in(browser: Browser, forge: str) -> None:
    session = browser.http.cookies[NAME].split(".")[1]
    signed = write_cookie(MINE, session)
    cookies = {
        "signed with another key": signed,
        "without a signature": signed.rpartition(".")[0],
        "an empty signature": f"1.{session}.{'a' * 43}.{'0' * 64}",
        "another version": "9" + signed[1:],
        "an id": session,
    }
    browser.http.cookies = httpx.Cookies({NAME: cookies[forge]})
    assert "Sign in to Ferryman" in (await browser.open("/console/approvals")).text
