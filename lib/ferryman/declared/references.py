"""References: which names the templates of a declared tool have, and what each of them may be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ferryman.declared import templates
from ferryman.declared.fields import join_place, report
from ferryman.declared.templates import MalformedTemplateError, Mode, Name
from ferryman.domain.credentials.credential import NAME
from ferryman.domain.json_tree import walk
from ferryman.domain.problem import Problem
from ferryman.domain.tools.declared import Auth, ClientCredentials

STATE = ("date", "datetime", "execution_id", "task_name")
"""What every template may name, as the prompt of a task may (0.1)."""

SECRET_IN_CONDITION = "has a secret in a condition: what is sent would reveal it"  # noqa: S105 - a message

PlacedText = tuple[str, str]
"""The place of a text, and the text."""


def list_texts(values: Mapping[str, Any], *place: object) -> Iterator[PlacedText]:
    """Yield the texts in `values`, each with its place below `place`."""
    return ((join_place(*place, *path), leaf) for path, leaf in walk(values) if isinstance(leaf, str))


def list_login_texts(auth: Auth, where: str = "") -> Iterator[PlacedText]:
    """Yield the templates of an auth block."""
    if isinstance(auth, ClientCredentials):
        return list_texts({"client_id": auth.client_id, "client_secret": auth.client_secret, "scope": auth.scope}, where)
    return list_texts({"headers": auth.request.headers, "body": auth.request.body}, where, "request")


def list_names(texts: Iterable[PlacedText]) -> Iterator[tuple[str, Name, bool]]:
    """Yield every name with its place, and whether a condition has it; a malformed text has no names."""
    for place, text in texts:
        try:
            yield from ((place, name, condition) for name, condition in templates.list_names(templates.parse(text)))
        except MalformedTemplateError:
            continue


def is_secret(name: Name, public: Collection[str]) -> bool:
    """Say whether `name` names a credential: all of `secrets` do, and variables of `env` except the `public` ones (S1-16)."""
    return name.store == "secrets" or (name.store == "env" and name.parts[1] not in public)


def find_credentials(texts: Iterable[PlacedText], public: Collection[str] = ()) -> frozenset[str]:
    """Return the credentials that the texts name; in embedded use, the variables of the environment that are secret."""
    return frozenset(name.parts[1] for _, name, _ in list_names(texts) if is_secret(name, public))


def find_template_problems(texts: Iterable[PlacedText], mode: Mode, public: Collection[str] = ()) -> Iterator[Problem]:
    """Yield what is wrong with the templates, whatever their plain names mean."""
    for place, text in texts:
        try:
            names = list(templates.list_names(templates.parse(text)))
        except MalformedTemplateError as error:
            yield report(str(error), place)
            continue
        messages = {_find_name_problem(name, condition, mode, public) for name, condition in names}
        yield from (report(message, place) for message in sorted(filter(None, messages)))


def _find_name_problem(name: Name, condition: bool, mode: Mode, public: Collection[str]) -> str | None:
    if name.store is None:
        return None
    if name.store == "secrets" and mode is not Mode.HOSTED:
        return "names a credential of a task, and there is no task in a process of one's own: write {{env.NAME}}"
    if name.store == "env" and mode is not Mode.EMBEDDED:
        return "names the environment, which no task reads: store a credential and write {{secrets.NAME}}"
    if len(name.parts) != 2 or not NAME.fullmatch(name.parts[1]):
        what = "credential" if mode is Mode.HOSTED else "variable"
        return f"must name a {what}, as in {{{{{name.store}.API_KEY}}}}: capital letters, digits and underscores"
    return SECRET_IN_CONDITION if condition and is_secret(name, public) else None
