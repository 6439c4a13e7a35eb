"""The configuration of a local MCP server: its command, its environment variable by variable, and what was accepted of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ferryman.declared.entry import EMBEDDED, NOT_SET
from ferryman.declared.fields import Fields, raise_problems, report
from ferryman.domain.credentials.credential import NAME, AuthType, Credential, Label, Secret
from ferryman.domain.credentials.value import find_value_problems
from ferryman.domain.problem import Problem
from ferryman.domain.remote_servers.names import find_server_name_problem, fold_name

SERVERS_MAX = 20
COMMAND_WORDS_MAX, WORD_CHARACTERS_MAX = 64, 4_096
VARIABLES_MAX = 64
ACCEPTED_MAX = 1_000
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """An MCP server to start: `command` by its absolute path, in the folder `cwd`, with the variables `env` of this process and
    no others. Those in `public_env` are not secret. `accept` has the digest of each accepted tool's descriptor, by its name.
    """

    name: str
    command: tuple[str, ...] = field(repr=False)
    cwd: str
    env: tuple[str, ...] = ()
    public_env: tuple[str, ...] = ()
    accept: Mapping[str, str] = field(default_factory=dict)


def read_local_servers(entries: Iterable[Mapping[str, Any]]) -> list[LocalServer]:
    """Return the servers that `entries` describe. Raise `InvalidInputError` with every problem and its place."""
    problems: list[Problem] = []
    servers = [_read(entry, f"servers.{at}", problems) for at, entry in enumerate(entries)]
    if len(servers) > SERVERS_MAX:
        problems.append(report(f"must be at most {SERVERS_MAX}", "servers"))
    for at, server in enumerate(servers):
        if any(fold_name(server.name) == fold_name(other.name) for other in servers[:at]):
            problems.append(report("is the name of another server, or looks like it", "servers", at, "name"))
    raise_problems(problems)
    return servers


def _read(entry: Mapping[str, Any], where: str, problems: list[Problem]) -> LocalServer:
    fields = Fields(entry, where, problems)
    server = LocalServer(
        name=fields.read_text("name"),
        command=_read_words(fields, "command", most=COMMAND_WORDS_MAX),
        cwd=fields.read_text("cwd"),
        env=_read_words(fields, "env", most=VARIABLES_MAX),
        public_env=_read_words(fields, "public_env", most=VARIABLES_MAX),
        accept=fields.read_texts("accept"),
    )
    fields.reject_unknown()
    problems += _find_problems(server, where)
    return server


def _read_words(fields: Fields, name: str, *, most: int) -> tuple[str, ...]:
    words = fields.read(name, [])
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        fields.report(name, "must be a list of texts")
        return ()
    if len(words) > most:
        fields.report(name, f"must have at most {most} texts")
    return tuple(words[:most])


def _find_problems(server: LocalServer, where: str) -> Iterable[Problem]:
    if (problem := find_server_name_problem(server.name)) is not None:
        yield report(problem, where, "name")
    if not server.command or not Path(server.command[0]).is_absolute():
        yield report(
            "must begin with the absolute path of a program: no PATH is searched, and no shell is asked", where, "command"
        )
    for at, word in enumerate(server.command):
        if len(word) > WORD_CHARACTERS_MAX or "\0" in word:
            yield report(f"must be at most {WORD_CHARACTERS_MAX:,} characters without NUL", where, "command", at)
    if not Path(server.cwd).is_absolute() or "\0" in server.cwd:
        yield report("must be the absolute path of a folder", where, "cwd")
    for at, name in enumerate(server.env):
        if not _VARIABLE.fullmatch(name):
            yield report("must be the name of a variable", where, "env", at)
        elif name not in server.public_env and not NAME.fullmatch(name):
            yield report("must be in capitals, as names of credentials are, or be listed in public_env too", where, "env", at)
    for name in sorted(set(server.public_env) - set(server.env)):
        yield report(f"lists {name[:64]}, which env does not", where, "public_env")
    if len(server.accept) > ACCEPTED_MAX:
        yield report(f"must have at most {ACCEPTED_MAX:,} tools", where, "accept")
    for tool, digest in server.accept.items():
        if not _DIGEST.fullmatch(digest):
            yield report("must be the SHA-256 of a descriptor, in 64 hexadecimal digits", where, "accept", tool)


def read_variables(servers: Iterable[LocalServer], environment: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what each server's process has in its environment, by the server's name.

    Raise `InvalidInputError` where a variable is not set, or is secret and its leak could not be told from chance.
    """
    servers = tuple(servers)
    problems: list[Problem] = []
    for server in servers:
        for name in server.env:
            if name not in environment:
                problems.append(report(NOT_SET, "env", name))
            elif name not in server.public_env:
                problems += [report(problem.message, "env", name) for problem in find_value_problems(environment[name])]
    raise_problems(problems)
    return {server.name: {name: environment[name] for name in server.env} for server in servers}


def build_credentials(server: LocalServer, variables: Mapping[str, str]) -> dict[str, Credential]:
    """Return the variables of a server that are secret: they are looked for in all that goes in and comes out. No host gets
    one."""
    secret = {name: value for name, value in variables.items() if name not in server.public_env}
    return {name: _build_credential(name, value) for name, value in secret.items()}


def _build_credential(name: str, value: str) -> Credential:
    label = Label(owner=EMBEDDED, task=EMBEDDED, name=name, version=1, service=EMBEDDED, auth_type=AuthType.BEARER, hosts=())
    return Credential(label=label, secret=Secret(value))
