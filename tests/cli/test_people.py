"""`ferryman member`, `key` and `history`, typed beside an API on doubles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ferryman.cli import exits

from .conftest import Typed


@pytest.fixture
def token(typed: Typed) -> str:
    """The token of a new invitation."""
    result = typed("member", "invite", "Dora", "--role", "admin")
    assert result.exit_code == exits.DONE, result.output
    return result.output.strip()


@pytest.fixture
def key(typed: Typed, token: str) -> str:
    """The API key of somebody who has joined."""
    result = typed("member", "join", stdin=token + "\n", FERRYMAN_KEY="")
    assert result.exit_code == exits.DONE, result.output
    return result.output.strip()


def test_who_has_a_token_joins_without_a_key_and_works_with_the_one_they_get(typed: Typed, key: str) -> None:
    assert typed("task", "list", FERRYMAN_KEY=key).exit_code == exits.DONE


def test_a_token_that_was_taken_is_refused(typed: Typed, token: str) -> None:
    assert typed("member", "join", stdin=token, FERRYMAN_KEY="").exit_code == exits.DONE
    again = typed("member", "join", stdin=token, FERRYMAN_KEY="")
    assert (again.exit_code, token in again.output) == (exits.REFUSED, False)


def test_with_the_secret_that_was_kept_the_key_is_printed_again(typed: Typed, token: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    first, again = [typed("member", "join", "--secret-file", str(file), stdin=token, FERRYMAN_KEY="") for _ in range(2)]
    assert (first.exit_code, again.exit_code, again.output) == (exits.DONE, exits.DONE, first.output)
    assert file.stat().st_mode & 0o077 == 0
    assert file.read_text() not in first.output


def test_a_secret_that_cannot_be_kept_takes_nothing(typed: Typed, token: str, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "none" / "secret")
    assert typed("member", "join", "--secret-file", nowhere, stdin=token, FERRYMAN_KEY="").exit_code == exits.USAGE
    assert typed("member", "join", stdin=token, FERRYMAN_KEY="").exit_code == exits.DONE


def test_members_and_who_is_invited_are_listed(typed: Typed, token: str) -> None:
    assert token
    assert "Bea" in typed("member", "list").output
    invited = typed("member", "list", "--invited", "--json").output
    assert "Dora" in invited
    assert token not in invited


def test_a_member_is_changed_and_removed(typed: Typed, key: str) -> None:
    person = json.loads(typed("key", "list", "--json", FERRYMAN_KEY=key).output)[0]["person_id"]
    changed = json.loads(typed("member", "update", person, "--role", "viewer", "--max-credits-month", "9", "--json").output)
    assert (changed["role"], changed["max_credits_month"]) == ("viewer", "9")
    again = json.loads(typed("member", "update", person, "--max-credits-month", "none", "--json").output)
    assert (again["role"], again["max_credits_month"]) == ("viewer", None)
    assert typed("member", "remove", person).output == f"{person} is no member any longer.\n"
    assert typed("task", "list", FERRYMAN_KEY=key).exit_code == exits.REFUSED


def test_an_invitation_is_withdrawn(typed: Typed, token: str) -> None:
    for invitation in json.loads(typed("member", "list", "--invited", "--json").output):
        if invitation["name"] == "Dora":
            assert typed("member", "withdraw", invitation["invitation_id"]).exit_code == exits.DONE
    assert typed("member", "join", stdin=token, FERRYMAN_KEY="").exit_code == exits.REFUSED


def test_a_key_is_created_listed_and_revoked(typed: Typed, key: str) -> None:
    created = typed("key", "create", "laptop", "--scope", "read", "--days", "3", FERRYMAN_KEY=key).output.strip()
    listed = json.loads(typed("key", "list", "--json", FERRYMAN_KEY=key).output)
    name = next(item["key_id"] for item in listed if item["name"] == "laptop")
    assert created not in json.dumps(listed)
    assert typed("key", "list", FERRYMAN_KEY=created).exit_code == exits.DONE
    assert typed("key", "revoke", name, FERRYMAN_KEY=key).exit_code == exits.DONE
    assert typed("key", "list", FERRYMAN_KEY=created).exit_code == exits.REFUSED


def test_the_history_says_who_changed_what(typed: Typed, token: str) -> None:
    assert token
    assert "createInvitation" in typed("history", "--limit", "1").output
    assert json.loads(typed("history", "--limit", "1", "--json").output)[0]["done"] is True
