"""The configuration of local MCP servers: each fault is named by its field and its limit."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.problem import InvalidInputError
from ferryman.tools.stdio.configuration import build_credentials, read_local_servers, read_variables
from tests.tools.stdio.conftest import ENVIRONMENT, describe


def list_problems(*entries: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidInputError) as caught:
        read_local_servers(entries)
    return [f"{problem.field} {problem.message}" for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"command": []}, "servers.0.command must begin with the absolute path of a program"),
        ({"command": ["python"]}, "servers.0.command must begin with the absolute path of a program"),
        ({"command": "/bin/sh -c x"}, "servers.0.command must be a list of texts"),
        ({"command": ["/bin/true", "a\0b"]}, "servers.0.command.1 must be at most 4,096 characters without NUL"),
        ({"command": ["/bin/true"] * 65}, "servers.0.command must have at most 64 texts"),
        ({"cwd": "here"}, "servers.0.cwd must be the absolute path of a folder"),
        ({"env": ["A=B"]}, "servers.0.env.0 must be the name of a variable"),
        ({"env": ["lower"], "public_env": []}, "servers.0.env.0 must be in capitals"),
        ({"env": {"A": "B"}}, "servers.0.env must be a list of texts"),
        ({"env": [], "public_env": ["A"]}, "servers.0.public_env lists A, which env does not"),
        ({"accept": {"echo": "abc"}}, "servers.0.accept.echo must be the SHA-256 of a descriptor"),
        ({"name": "a__b"}, "servers.0.name must be 1 to 24 lower-case letters"),
        ({"shell": True}, "servers.0.shell is not a field"),
    ],
)
def test_a_fault_is_named_by_its_field(fields: dict[str, Any], problem: str) -> None:
    assert any(text.startswith(problem) for text in list_problems(describe(**fields)))


@pytest.mark.parametrize("name", ["peer", "pe-er", "p33r"])
def test_two_names_that_look_alike_are_refused(name: str) -> None:
    assert "servers.1.name is the name of another server, or looks like it" in list_problems(describe(), describe(name=name))


def test_too_many_servers_are_refused() -> None:
    entries = [describe(name=f"server-{chr(ord('a') + at)}") for at in range(21)]
    assert "servers must be at most 20" in list_problems(*entries)


def test_a_variable_that_is_not_set_is_named() -> None:
    servers = read_local_servers([describe(env=["ABSENT"], public_env=[])])
    with pytest.raises(InvalidInputError, match="ABSENT"):
        read_variables(servers, ENVIRONMENT)


def test_a_secret_whose_leak_could_not_be_told_from_chance_is_refused() -> None:
    servers = read_local_servers([describe(env=["SHORT"], public_env=[])])
    with pytest.raises(InvalidInputError, match="at least 16 characters"):
        read_variables(servers, {"SHORT": "hunter2"})


def test_variables_that_nobody_lists_as_public_are_credentials_of_no_host() -> None:
    (server,) = read_local_servers([describe()])
    credentials = build_credentials(server, read_variables([server], ENVIRONMENT)["peer"])
    assert {name: credential.label.hosts for name, credential in credentials.items()} == {"PEER_KEY": ()}
