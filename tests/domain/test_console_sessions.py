"""Sessions of the console and sign-in links: how long they last, where they act, and what is stored of a browser."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.console_sessions.link import LINK_LIFETIME, build_link
from ferryman.domain.console_sessions.session import BROWSER_CHARACTERS_MAX, LIFETIME, build_session, clean_browser
from ferryman.domain.workspaces.api_key import ApiKey

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ApiKey(id="k", owner="ann", person="eve", workspace="ws_1", created_at=NOW)


@pytest.mark.parametrize(("lasts", "ends"), [(None, LIFETIME), (timedelta(days=1), LIFETIME), (timedelta(hours=1),) * 2])
def test_a_session_ends_after_twelve_hours_and_with_its_key_at_the_latest(lasts: timedelta | None, ends: timedelta) -> None:
    key = ApiKey(owner="ann", created_at=NOW, expires_at=None if lasts is None else NOW + lasts)
    session = build_session("s", key, "d", browser="", now=NOW)
    assert session.expires_at == NOW + ends
    assert [session.is_expired(NOW + ends - timedelta(seconds=1)), session.is_expired(NOW + ends)] == [False, True]


def test_a_session_acts_where_its_key_does() -> None:
    session = build_session("s", KEY, "d", browser="", now=NOW)
    assert (session.owner, session.person, session.key) == ("ann", "eve", "k")
    assert (session.key_workspace, session.workspace) == ("ws_1", "ws_1")


@pytest.mark.parametrize(("lasts", "ends"), [(None, LINK_LIFETIME), (timedelta(minutes=1),) * 2])
def test_a_link_ends_after_ten_minutes_and_with_its_key_at_the_latest(lasts: timedelta | None, ends: timedelta) -> None:
    key = ApiKey(owner="ann", created_at=NOW, expires_at=None if lasts is None else NOW + lasts)
    assert build_link("code", key, "d", now=NOW).expires_at == NOW + ends


def test_neither_says_a_digest_in_its_repr() -> None:
    assert "hidden" not in repr(build_session("s", KEY, "hidden", browser="", now=NOW))
    assert "hidden" not in repr(build_link("hidden", KEY, "hidden", now=NOW))


@given(st.text(max_size=2_000))
def test_of_a_browser_printable_ascii_is_stored_and_not_much_of_it(agent: str) -> None:
    text = clean_browser(agent)
    assert len(text) <= BROWSER_CHARACTERS_MAX
    assert text == text.strip()
    assert all(" " <= letter <= "~" for letter in text)


def test_the_name_of_a_browser_stays_as_it_is() -> None:
    assert clean_browser("Mozilla/5.0 (X11; Linux x86_64)") == "Mozilla/5.0 (X11; Linux x86_64)"
