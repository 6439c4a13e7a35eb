"""Entry: a `kind: http` entry as an owner writes it, read with all that can be derived from it (S1-5, S1-7 … S1-26).

And embedded tools: what entries declare, and the credentials and texts that they take from the environment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ferryman.declared import auth, check, templates, urls
from ferryman.declared.fields import Fields, find_json_problem, join_place, raise_problems, report
from ferryman.declared.templates import STATE, Mode
from ferryman.declared.urls import Placeholder
from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.credentials.value import find_pair_problems, find_value_problems
from ferryman.domain.http import url
from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.domain.tools.declared import DeclaredTool, Parameter, Style, TokenExchange

DISABLED = "switched off in its declaration"
STATUS_MIN = 200
SUMMARY_CHARACTERS_MAX = 120
_TEXT = {"type": "string"}
_OBJECT = {"type": "object"}
_TYPED = frozenset(("type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if"))

_DeclaredParameter = tuple[dict[str, Any], bool | None, Style]
"""The schema, whether it is required (None: not declared), and the style."""


def read(entry: Mapping[str, Any], *, where: str, mode: Mode = Mode.HOSTED) -> DeclaredTool:
    """Return the tool that `entry` declares. Raise `InvalidInputError` with every problem and its place below `where`.

    Hosts are not checked: the task decides which are approved (`check.find_host_problems`).
    """
    if (problem := find_json_problem(entry, where, depth=check.DEPTH_MAX)) is not None:
        raise InvalidInputError([problem])
    raise_problems(check.find_size_problems(entry, where))
    problems: list[Problem] = []
    fields = Fields(entry, where, problems)
    if fields.read_text("kind") not in ("", "http"):
        raise build_input_error(join_place(where, "kind"), "must be http")
    values = {
        "name": fields.read_text("name"),
        "description": fields.read_text("description", ""),
        "url": fields.read_text("url"),
        "method": fields.read_choice("method", Method.GET),
        "params": fields.read_mapping("params"),
        "query": fields.read_mapping("query"),
        "headers": fields.read_texts("headers"),
        "body_type": fields.read_choice("body_type", BodyType.JSON),
        "body": fields.read("body"),
        "ok_statuses": fields.read_statuses("ok_statuses", (), least=STATUS_MIN),
        "public_env": fields.read_names("public_env"),
    }
    login = fields.read("auth")
    parameters = _read_parameters(fields)
    enabled = fields.read_flag("enabled", True)
    token = None if login is None else auth.read_auth(Fields(login, join_place(where, "auth"), problems))
    fields.reject_unknown()
    raise_problems(problems)
    tool = DeclaredTool(
        **values,
        summary=values["description"].strip().partition("\n")[0].strip()[:SUMMARY_CHARACTERS_MAX],
        auth=token,
        parameters=_derive_parameters(values, parameters),
        enabled=enabled,
        reason=None if enabled else DISABLED,
        is_own=True,
    )
    raise_problems(check.find_problems(tool, where=where, mode=mode))
    return tool


def read_all(
    entries: Iterable[Mapping[str, Any]],
    places: Iterable[str],
    *,
    domains: Collection[str] | None = None,
    mode: Mode = Mode.HOSTED,
) -> list[DeclaredTool]:
    """Return the tools that `entries`, each at its place, declare. They may call `domains`, or where that is None any host.

    Raise `InvalidInputError` with every problem.
    """
    problems: list[Problem] = []
    tools: dict[str, DeclaredTool] = {}
    for entry, place in zip(entries, places, strict=True):
        try:
            tool = read(entry, where=place, mode=mode)
        except InvalidInputError as error:
            problems += error.problems
            continue
        problems += [] if domains is None else check.find_host_problems(tool, where=place, domains=domains)
        if tool.name in tools:
            problems.append(report("is declared twice", place, "name"))
        tools[tool.name] = tool
    raise_problems(problems)
    return list(tools.values())


def _read_parameters(fields: Fields) -> dict[str, _DeclaredParameter]:
    """Return the `parameters` block by name."""
    parameters = {}
    for name, value in fields.read_mapping("parameters").items():
        if not isinstance(value, Mapping):
            message = "must be a JSON Schema, with `required` and `style`"
            fields.problems.append(report(message, fields.where, "parameters", name))
            continue
        schema = dict(value)
        # `required` is ours where it is true or false; a list of names is JSON Schema's own, of an object's fields.
        required = schema.pop("required") if isinstance(schema.get("required"), bool) else None
        style = Fields({"style": schema.pop("style", None)}, join_place(fields.where, "parameters", name), fields.problems)
        parameters[name] = (schema, required, style.read_choice("style", Style.REPEAT))
    return parameters


def _derive_parameters(values: Mapping[str, Any], declared: Mapping[str, _DeclaredParameter]) -> dict[str, Parameter]:
    """Return all parameters: those of the placeholders and of the templates (S1-24), and those declared, without the pins."""
    placeholders = list(_list_placeholders(values["url"]))
    required_names = {placeholder.name for placeholder in placeholders if not placeholder.optional}
    optional_names = {placeholder.name for placeholder in placeholders} - required_names
    derived: dict[str, dict[str, Any]] = {placeholder.name: _TEXT for placeholder in placeholders}
    texts = templates.list_texts({key: values[key] for key in ("query", "headers", "body", "params")})
    for _, name, _ in templates.list_placed_names(texts):
        if name.store is None and (name.root in derived or name.root in declared or name.root not in STATE):
            derived[name.root] = _OBJECT if len(name.parts) > 1 else derived.get(name.root, _TEXT)
    parameters = {}
    for root in dict.fromkeys((*derived, *declared)):
        if root in values["params"] and root not in declared:
            continue
        schema, required, style = declared.get(root, ({}, None, Style.REPEAT))
        if not _TYPED & schema.keys():
            schema = {**derived.get(root, _TEXT), **schema}
        if required is None:
            required = root not in optional_names and "default" not in schema
        parameters[root] = Parameter(schema=schema, required=required, style=style)
    return parameters


def _list_placeholders(text: str) -> Iterator[Placeholder]:
    try:
        address = urls.parse(text)
    except url.InvalidUrlError:
        return  # `check` reports it
    yield from map(Placeholder, address.path_names())
    yield from address.query_placeholders()


EMBEDDED = "embedded"
"""The owner, the task and the service of embedded tools and their credentials."""

NOT_SET = "is not set in the environment"


def read_tools(entries: Sequence[Mapping[str, Any]]) -> list[DeclaredTool]:
    """Return the tools that `entries` declare. Raise `InvalidInputError` with every problem."""
    return read_all(entries, [f"tools.{index}" for index in range(len(entries))], mode=Mode.EMBEDDED)


def list_hosts(tool: DeclaredTool) -> tuple[str, ...]:
    """Return the hosts that a tool calls: that of its URL, and that of its login."""
    login = (auth.get_token_url(tool.auth)[0],) if tool.auth is not None else ()
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


def read_credentials(tools: Collection[DeclaredTool], env: Mapping[str, str]) -> dict[str, Credential]:
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
    pairs = {name for name in hosts if _is_pair(name, env.get(name, ""), tools)}
    for name in sorted(hosts):
        find = find_pair_problems if name in pairs else find_value_problems
        messages = [problem.message for problem in find(env[name])] if env.get(name) else [NOT_SET]
        problems += [report(message, "env", name) for message in messages]
    raise_problems(problems)
    types = {name: AuthType.BASIC if name in pairs else AuthType.BEARER for name in sorted(hosts)}
    return {name: _build_credential(name, env[name], kind, tuple(sorted(hosts[name]))) for name, kind in types.items()}


def _is_pair(name: str, value: str, tools: Iterable[DeclaredTool]) -> bool:
    """Say whether a variable is a user name and a password as they are, and not in base64, which has no colon."""
    written = f"Basic {{{{env.{name}}}}}"
    return ":" in value and any(written in _list_header_values(tool) for tool in tools)


def _list_header_values(tool: DeclaredTool) -> list[str]:
    login = tool.auth.request.headers if isinstance(tool.auth, TokenExchange) else {}
    return [*tool.headers.values(), *login.values()]


def _build_credential(name: str, value: str, auth_type: AuthType, hosts: tuple[str, ...]) -> Credential:
    label = Label(owner=EMBEDDED, task=EMBEDDED, name=name, version=1, service=EMBEDDED, auth_type=auth_type, hosts=hosts)
    return Credential(label=label, secret=Secret(value))
