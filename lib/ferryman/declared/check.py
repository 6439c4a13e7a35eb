"""Check: the rules that hold for every declared tool, whether an owner wrote it or a document was imported."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ferryman.catalog.tools import DECLARED, LISTED, TOOLS
from ferryman.declared import auth, headers, schemas, templates, urls
from ferryman.declared.fields import find_json_problem, join_place, report
from ferryman.declared.templates import SECRET_IN_CONDITION, STATE, Mode
from ferryman.domain.http import url
from ferryman.domain.http.headers import is_identity_header, normalize_header
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.request import BodyType
from ferryman.domain.problem import Problem
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.domain.tools.declared import DECLARATION_BYTES_MAX, DeclaredTool
from ferryman.domain.tools.names import PREFIX, has_prefix, strip_prefix

DESCRIPTION_CHARACTERS_MAX = 4_000
PARAMETERS_MAX = 100
DEPTH_MAX = 64
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
BUILT_IN = frozenset({*TOOLS, DECLARED.function, *(strip_prefix(name) for name in LISTED if has_prefix(name))})
"""Names that the system uses itself: of tools, of the function of declared tools, and of the platform's own tools without their
prefix. Names of other functions, such as search, are free."""

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_APPROVED_HOSTS_MAX = 20


def find_problems(tool: DeclaredTool, *, where: str, mode: Mode = Mode.HOSTED) -> list[Problem]:
    """Return everything that keeps `tool` from being stored, except for hosts that are not approved.

    The fields of the problems are places below `where`.
    """
    for name in ("params", "query", "headers", "body", "parameters"):
        value = getattr(tool, name)
        plain = {key: parameter.schema for key, parameter in value.items()} if name == "parameters" else value
        if (problem := find_json_problem(plain, where, name, depth=DEPTH_MAX)) is not None:
            return [problem]
    return [
        *find_text_problems(tool, where),
        *templates.find_template_problems(_list_texts(tool, where), mode, tool.public_env),
        *_find_public_env_problems(tool, where, mode),
        *_find_pin_problems(tool, where),
        *headers.find_pair_problems(tool.query, join_place(where, "query")),
        *headers.find_header_problems(tool.headers, tool.body_type, join_place(where, "headers")),
        *_find_identity_problems(tool, where),
        *headers.find_body_problems(tool.method, tool.body_type, tool.body, join_place(where, "body")),
        *(auth.find_auth_problems(tool.auth, join_place(where, "auth"), mode, tool.public_env) if tool.auth else ()),
        *_find_url_problems(tool, where),
        *_find_parameter_problems(tool, where),
        *find_size_problems(asdict(tool), where),
    ]


def find_host_problems(tool: DeclaredTool, *, where: str, domains: Collection[str]) -> list[Problem]:
    """Return the hosts, of the tool and of its login, that none of `domains` covers; an invalid URL has no host."""
    texts = [(tool.url, "url")]
    if tool.auth is not None:
        text, place = auth.get_token_url(tool.auth)
        texts.append((text, f"auth.{place}"))
    problems = []
    for text, place in texts:
        try:
            host = urls.parse(text).host
        except url.InvalidUrlError:
            continue
        if not is_covered(domains, host):
            approved = ", ".join(sorted(domains)[:_APPROVED_HOSTS_MAX]) or "none"
            problems.append(report(f"host {host} is not approved for this task; approved: {approved}", where, place))
    return problems


def find_size_problems(declaration: Any, where: str) -> Iterator[Problem]:
    """Yield a problem where a declaration is too large."""
    size = len(json.dumps(declaration).encode())
    if size > DECLARATION_BYTES_MAX:
        yield report(f"must be at most {DECLARATION_BYTES_MAX} bytes as JSON, is {size}", where)


def find_credentials(tool: DeclaredTool) -> frozenset[str]:
    """Return the names of the credentials in the request of `tool`, without those of its login."""
    return templates.find_credentials(_list_texts(tool, ""), tool.public_env)


def find_login_credentials(tool: DeclaredTool) -> frozenset[str]:
    """Return the names of the credentials in the login of `tool`."""
    return templates.find_credentials(templates.list_login_texts(tool.auth), tool.public_env) if tool.auth else frozenset()


def _list_texts(tool: DeclaredTool, where: str) -> list[templates.PlacedText]:
    values = {"params": tool.params, "query": tool.query, "headers": tool.headers, "body": tool.body}
    return list(templates.list_texts(values, where))


def find_text_problems(tool: DeclaredTool, where: str) -> Iterator[Problem]:
    if not NAME.fullmatch(tool.name):
        yield report("must be letters, digits, '_' and '-', begin with a letter or '_', at most 64", where, "name")
    elif has_prefix(tool.name):
        yield report(f"begins with {PREFIX}, the prefix of the platform's own tools: give it another name", where, "name")
    elif is_remote_name(tool.name):
        yield report("has '__', which only names of tools of MCP servers have: give it another name", where, "name")
    elif tool.name in BUILT_IN:
        yield report("is the name of a built-in tool", where, "name")
    for name in ("description", "summary"):
        text = getattr(tool, name)
        if len(text) > DESCRIPTION_CHARACTERS_MAX:
            yield report(f"must be at most {DESCRIPTION_CHARACTERS_MAX} characters, is {len(text)}", where, name)
        if (problem := find_json_problem(text, where, name, depth=1)) is not None:
            yield problem
    if not all(200 <= status <= 599 for status in tool.ok_statuses):
        yield report("must be a list of HTTP statuses of 200 to 599", where, "ok_statuses")


def _find_pin_problems(tool: DeclaredTool, where: str) -> Iterator[Problem]:
    for pin, value in tool.params.items():
        place = join_place(where, "params", pin)
        yield from headers.find_nesting(value, place)
        if pin in tool.parameters:
            yield report("is both pinned and a parameter: remove one of them", place)
        for _, name, _ in templates.list_placed_names(templates.list_texts({pin: value})):
            if name.root in tool.params and name.store is None:
                yield report("names a value that is pinned itself", place)
            if templates.is_secret(name, tool.public_env) and isinstance(value, list | tuple):
                yield report("has a secret in a list: only a text may have one", place)
    secret = {pin for pin in tool.params if _is_secret_pin(tool, pin)}
    for place, name, condition in templates.list_placed_names(_list_texts(tool, where)):
        if condition and name.store is None and name.root in secret:
            yield report(SECRET_IN_CONDITION, place)


def _find_identity_problems(tool: DeclaredTool, where: str) -> Iterator[Problem]:
    """Yield the headers that tell a service who asks, and whose value the model decides, directly or through a pin."""
    pins = {pin for pin, value in tool.params.items() if _is_decided_by_model(tool, value)}
    for name, value in tool.headers.items():
        if is_identity_header(name) and _is_decided_by_model(tool, value, pins):
            yield report("tells a service who asks, and the model would decide it: write the value out", where, "headers", name)


def _is_decided_by_model(tool: DeclaredTool, value: Any, pins: Collection[str] = ()) -> bool:
    names = templates.list_placed_names(templates.list_texts({"": value}))
    return any(name.store is None and (name.root in tool.parameters or name.root in pins) for _, name, _ in names)


def _is_secret_pin(tool: DeclaredTool, pin: str) -> bool:
    return bool(templates.find_credentials(templates.list_texts({pin: tool.params[pin]}), tool.public_env))


def _find_public_env_problems(tool: DeclaredTool, where: str, mode: Mode) -> Iterator[Problem]:
    """Yield what is wrong with the list of variables that are not secret: each must be one that a template names."""
    if tool.public_env and mode is not Mode.EMBEDDED:
        message = "names variables of the environment, which no task reads: write their values out"
        yield report(message, where, "public_env")
        return
    texts = [*_list_texts(tool, ""), *(templates.list_login_texts(tool.auth) if tool.auth else ())]
    variables = {name.parts[1] for _, name, _ in templates.list_placed_names(texts) if name.store == "env"}
    for variable in tool.public_env:
        if variable not in variables:
            message = f"names {variable[:64]!r}, which no template names: write {{{{env.NAME}}}} where it is used, or remove it"
            yield report(message, where, "public_env")


def _find_url_problems(tool: DeclaredTool, where: str) -> Iterator[Problem]:
    try:
        address = urls.parse(tool.url)
    except url.InvalidUrlError as error:
        yield report(str(error), where, "url")
        return
    in_path, in_query = set(address.path_names()), {placeholder.name for placeholder in address.query_placeholders()}
    for name in sorted(in_path | in_query):
        parameter = tool.parameters.get(name)
        if parameter is None and name not in tool.params:
            yield report(f"has the placeholder {name[:64]}, which is neither a parameter nor pinned", where, "url")
        elif name in in_path and name in tool.params and _is_secret_pin(tool, name):
            message = "is a secret in the path of the URL, where every log on the way would have it: send it in a header"
            yield report(message, where, "params", name)
        elif name in in_path and parameter and not parameter.required and "default" not in parameter.schema:
            yield report("is in the path of the URL: it must be required, or have a default", where, "parameters", name)
    yield from _find_name_collisions(tool, address, where)
    names = templates.list_placed_names(_list_texts(tool, ""))
    used = in_path | in_query | {name.root for _, name, _ in names if name.store is None}
    for field, what in (("params", "pins nothing"), ("parameters", "is not used")):
        for name in getattr(tool, field):
            if name not in used:
                yield report(f"{what}: there is no placeholder or template of that name", where, field, name)


def list_wire_names(tool: DeclaredTool, address: urls.Address) -> list[tuple[str, str]]:
    """Return the names that the query has by its declaration, each with the field that it is from; one of each per field."""
    body = tool.body if tool.body_type is BodyType.QUERY and isinstance(tool.body, Mapping) else {}
    token = auth.get_token_name(tool.auth, "query")
    names: dict[str, Any] = {"url": dict.fromkeys(address.query_names()), "query": tool.query, "body": body}
    if token is not None:
        names["auth.apply.name"] = (token,)
    return [(name, field) for field, names_of_field in names.items() for name in names_of_field]


def _find_name_collisions(tool: DeclaredTool, address: urls.Address, where: str) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for name, field in list_wire_names(tool, address):
        if name in seen:
            yield report(f"has '{name[:64]}' of the query, as {seen[name]} does already", where, field)
        seen.setdefault(name, field)
    token = auth.get_token_name(tool.auth, "header")
    if token is not None and normalize_header(token) in {normalize_header(name) for name in tool.headers}:
        yield report(f"has {token[:64]}, which auth sets", where, "headers")


def _find_parameter_problems(tool: DeclaredTool, where: str) -> Iterator[Problem]:
    if len(tool.parameters) > PARAMETERS_MAX:
        yield report(f"must be at most {PARAMETERS_MAX}, are {len(tool.parameters)}", where, "parameters")
    for name, parameter in tool.parameters.items():
        if not _PARAMETER.fullmatch(name):
            message = "must be letters, digits and '_', begin with a letter or '_', at most 64"
            yield report(message, where, "parameters", name)
        if (problem := schemas.find_problem(parameter.schema)) is not None:
            yield report(problem, where, "parameters", name)
    known = {*tool.parameters, *tool.params, *STATE}
    for place, reference, _ in templates.list_placed_names(_list_texts(tool, where)):
        if reference.store is None and reference.root not in known:
            yield report(f"names '{reference.root[:64]}', which is not a parameter, not pinned and has no value", place)
