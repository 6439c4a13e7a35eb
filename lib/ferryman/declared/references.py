"""References: which names the texts of a declared tool have, and what each of them may be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ferryman.declared import templates
from ferryman.declared.fields import at, leaves
from ferryman.declared.templates import MalformedTemplateError, Mode, Name
from ferryman.domain.credentials.credential import NAME
from ferryman.domain.problem import Problem
from ferryman.domain.tools.declared import Auth, ClientCredentials

STATE = ("date", "datetime", "execution_id", "task_name")
"""What every template may name, as a task's prompt may (0.1)."""

Placed = tuple[str, str]
"""A place, and the text that stands there."""


def texts(parts: Mapping[str, Any], where: str = "") -> Iterator[Placed]:
    """The texts in `parts`, each with its place below `where`."""
    for name, value in parts.items():
        yield from ((place, leaf) for place, leaf in leaves(value, at(where, name)) if isinstance(leaf, str))


def login_texts(auth: Auth, where: str = "") -> Iterator[Placed]:
    """The templates of an auth block."""
    if isinstance(auth, ClientCredentials):
        yield from texts({"client_id": auth.client_id, "client_secret": auth.client_secret, "scope": auth.scope}, where)
    else:
        yield from texts({"headers": auth.request.headers, "body": auth.request.body}, at(where, "request"))


def names(placed: Iterable[Placed]) -> Iterator[tuple[str, Name, bool]]:
    """Every name with its place, and whether it stands in a condition; what is malformed has none."""
    for place, text in placed:
        try:
            yield from ((place, name, condition) for name, condition in templates.names(templates.parse(text)))
        except MalformedTemplateError:
            continue


def is_secret(name: Name, public: Collection[str]) -> bool:
    """Tell whether `name` stands for a credential: all of `secrets` do, and variables of `env` but for the `public` (S1-16)."""
    return name.store == "secrets" or (name.store == "env" and name.parts[1] not in public)


def secrets(placed: Iterable[Placed], public: Collection[str] = ()) -> frozenset[str]:
    """Return the credentials that are named; where the environment may be named, those of its variables that are secret."""
    return frozenset(name.parts[1] for _, name, _ in names(placed) if is_secret(name, public))


def variables(placed: Iterable[Placed]) -> frozenset[str]:
    """Return the variables of the environment that are named."""
    return frozenset(name.parts[1] for _, name, _ in names(placed) if name.store == "env")


def problems(placed: Iterable[Placed], mode: Mode, public: Collection[str] = ()) -> Iterator[Problem]:
    """What is wrong with the templates, whatever their plain names mean."""
    for place, text in placed:
        try:
            found = {_name_problem(name, condition, mode, public) for name, condition in templates.names(templates.parse(text))}
        except MalformedTemplateError as error:
            found = {str(error)}
        yield from (Problem(field=place, message=message) for message in sorted(filter(None, found)))


def _name_problem(name: Name, condition: bool, mode: Mode, public: Collection[str]) -> str | None:
    if name.store is None:
        return None
    if name.store == "secrets" and mode is not Mode.HOSTED:
        return "names a credential of a task, and there is no task in a process of one's own: write {{env.NAME}}"
    if name.store == "env" and mode is not Mode.EMBEDDED:
        return "names the environment, which no task reads: store a credential and write {{secrets.NAME}}"
    if len(name.parts) != 2 or not NAME.fullmatch(name.parts[1]):
        what = "credential" if mode is Mode.HOSTED else "variable"
        return f"must name a {what}, as in {{{{{name.store}.API_KEY}}}}: capital letters, digits and underscores"
    return "has a secret in a condition: what is sent would tell of it" if condition and is_secret(name, public) else None
