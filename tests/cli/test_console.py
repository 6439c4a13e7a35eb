"""`ferryman console` and `ferryman sessions`, typed beside an API on doubles."""

from __future__ import annotations

import json
import re

import pytest

from ferryman.cli import exits
from ferryman.domain.console_sessions.session import build_session
from ferryman.serving import keys
from tests.serving.conftest import Stage

from .conftest import Typed


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that a browser was started with."""
    visited: list[str] = []
    monkeypatch.setattr("webbrowser.open", visited.append)
    return visited


@pytest.fixture
def session(stage: Stage, service: dict[str, str]) -> str:
    """A session of the caller's, by its id."""
    digest, name = keys.digest_key(service["FERRYMAN_KEY"]), f"session_{len(stage.memory.console_sessions)}"
    signed_in = build_session(name, stage.memory.keys[digest], digest, browser="Browser/1.0", now=stage.clock.now())
    stage.memory.console_sessions[name] = signed_in
    return name


def test_the_console_is_opened_by_the_link_that_is_printed(typed: Typed, pages: list[str]) -> None:
    result = typed("console")
    assert (result.exit_code, pages) == (exits.DONE, [result.output.strip()])
    assert re.search(r"/console/enter\?code=[A-Za-z0-9_-]{43}$", pages[0])


def test_without_a_browser_the_link_is_printed_alone(typed: Typed, pages: list[str]) -> None:
    result = typed("console", "--no-browser", "--json")
    assert (result.exit_code, pages, json.loads(result.output).keys()) == (exits.DONE, [], {"url", "expires_at"})


def test_each_link_is_another(typed: Typed) -> None:
    assert typed("console", "--no-browser").output != typed("console", "--no-browser").output


def test_sessions_are_listed_with_their_browser(typed: Typed, session: str) -> None:
    assert "Browser/1.0" in typed("sessions", "list").output
    assert session in [item["session_id"] for item in json.loads(typed("sessions", "list", "--json").output)]


def test_sessions_of_everybody_are_listed_where_they_are_asked_for(typed: Typed, session: str) -> None:
    listed = [
        [item["session_id"] for item in json.loads(typed("sessions", "list", "--json", *more).output)]
        for more in ((), ("--everybody",))
    ]
    assert [session in names for names in listed] == [True, True]
    assert ["sess_ann" in names for names in listed] == [False, True]


def test_a_session_is_revoked_once(typed: Typed, session: str, stage: Stage) -> None:
    assert typed("sessions", "revoke", session).exit_code == exits.DONE
    assert session not in stage.memory.console_sessions
    assert typed("sessions", "revoke", session).exit_code == exits.REFUSED
