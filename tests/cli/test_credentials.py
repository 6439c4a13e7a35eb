"""`ferryman credential set`: a user name that is typed goes with the password that is read."""

from __future__ import annotations

import json

import pytest

from tests.canaries import canary
from tests.cli.conftest import Typed


def test_a_password_is_read_and_stored_with_the_user_name_that_was_typed(typed: Typed, task: str) -> None:
    value = canary.create_key("cli, a password")
    words = ("credential", "set", task, "DESK", "--service", "github", "--json")
    stored = typed(*words, "--user", "me@shop.test", stdin=f"{value}\n")
    assert (stored.exit_code, json.loads(stored.stdout)["auth_type"]) == (0, "basic")
    whole = typed(*words, "--auth-type", "basic", stdin=f"me:{value}\n")
    assert (whole.exit_code, json.loads(whole.stdout)["version"]) == (0, 2)


@pytest.mark.parametrize("words", [("--user", "a:b"), ("--user", "me", "--auth-type", "bearer")])
def test_a_user_name_is_for_basic_and_has_no_colon(typed: Typed, task: str, words: tuple[str, ...]) -> None:
    refused = typed("credential", "set", task, "DESK", "--service", "github", *words, stdin="unread")
    assert (refused.exit_code, "--user is for auth type basic" in refused.stderr) == (2, True)
