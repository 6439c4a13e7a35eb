"""Embedded tools: what entries declare, and the credentials and texts that they take from the environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ferryman.declared import auth as logins
from ferryman.declared import check, entry, urls
from ferryman.declared.fields import raise_problems, report
from ferryman.declared.templates import Mode
from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret, find_value_problems
from ferryman.domain.problem import Problem
from ferryman.domain.tools.declared import DeclaredTool

EMBEDDED = "embedded"
"""The owner, the task and the service of embedded tools and their credentials."""

NOT_SET = "is not set in the environment"


def read_tools(entries: Sequence[Mapping[str, Any]]) -> list[DeclaredTool]:
    """Return the tools that `entries` declare. Raise `InvalidInputError` with every problem."""
    return entry.read_all(entries, [f"tools.{index}" for index in range(len(entries))], mode=Mode.EMBEDDED)


def list_hosts(tool: DeclaredTool) -> tuple[str, ...]:
    """Return the hosts that a tool calls: that of its URL, and that of its login."""
    login = (logins.get_token_url(tool.auth)[0],) if tool.auth is not None else ()
    return tuple(urls.parse(url).host for url in (tool.url, *login))


def read_public(tools: Sequence[DeclaredTool], env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the tools list as not secret.

    Raise `InvalidInputError` where one is not set, or is a credential of another tool.
    """
    places = {name: f"tools.{index}.public_env" for index, tool in enumerate(tools) for name in tool.public_env}
    secret = {name for tool in tools for name in check.find_credentials(tool) | check.find_login_credentials(tool)}
    problems = [report(NOT_SET, "env", name) for name in places if name not in env]
    problems += [
        report(f"lists {name} as not secret, and another tool names it as a credential: list it in both", place)
        for name, place in places.items()
        if name in secret
    ]
    raise_problems(problems)
    return {name: env[name] for name in places}


def read_credentials(tools: Iterable[DeclaredTool], env: Mapping[str, str]) -> dict[str, Credential]:
    """Return the variables that the tools name as credentials, bound to the tools' hosts.

    Raise `InvalidInputError` where one is not set, or is too short or too simple to be a secret.
    """
    hosts: dict[str, set[str]] = {}
    for tool in tools:
        host, *login = list_hosts(tool)
        for name in check.find_credentials(tool):
            hosts.setdefault(name, set()).add(host)
        for name in check.find_login_credentials(tool):
            # a token goes no further than the credential that it was exchanged for
            hosts.setdefault(name, set()).update((host, *login))
    problems: list[Problem] = []
    for name in sorted(hosts):
        messages = [problem.message for problem in find_value_problems(env[name])] if env.get(name) else [NOT_SET]
        problems += [report(message, "env", name) for message in messages]
    raise_problems(problems)
    return {name: _build_credential(name, env[name], tuple(sorted(hosts[name]))) for name in sorted(hosts)}


def _build_credential(name: str, value: str, hosts: tuple[str, ...]) -> Credential:
    label = Label(owner=EMBEDDED, task=EMBEDDED, name=name, version=1, service=EMBEDDED, auth_type=AuthType.BEARER, hosts=hosts)
    return Credential(label=label, secret=Secret(value))
