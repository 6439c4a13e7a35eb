"""Check: the rules that hold for every declared tool, whether an owner wrote it or a document was imported."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ferryman.declared import auth, bodies, headers, references, schemas, urls
from ferryman.declared.fields import at, plain_problem
from ferryman.declared.references import STATE
from ferryman.declared.templates import Mode
from ferryman.domain.http import url
from ferryman.domain.http.headers import normalize_header
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.identity_headers import is_identity_header
from ferryman.domain.http.request import BodyType
from ferryman.domain.problem import Problem
from ferryman.domain.tools.declared import DECLARATION_BYTES_MAX, Declared

DESCRIPTION_CHARACTERS_MAX = 4_000
PARAMETERS_MAX = 100
DEPTH_MAX = 64
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
BUILT_IN = frozenset(
    (
        *("api_call", "http_get", "http_post", "webhook"),
        *("http_tool", "import_openapi_tools", "call_custom_tool", "delete_tool_cluster"),
    )
)
"""Names that the house has given already."""

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_APPROVED_SHOWN_MAX = 20


def problems(tool: Declared, *, where: str, domains: Collection[str], mode: Mode = Mode.HOSTED) -> list[Problem]:
    """Everything that keeps `tool` from being stored and shown; the fields are places below `where`."""
    return [*rules(tool, where=where, mode=mode), *hosts(tool, where=where, domains=domains)]


def rules(tool: Declared, *, where: str, mode: Mode = Mode.HOSTED) -> list[Problem]:
    """Everything but whether the hosts are approved."""
    for name in ("params", "query", "headers", "body", "parameters"):
        said = getattr(tool, name)
        plain = {key: each.schema for key, each in said.items()} if name == "parameters" else said
        if (found := plain_problem(plain, at(where, name), depth=DEPTH_MAX)) is not None:
            return [found]
    return [
        *_texts(tool, where),
        *references.problems(_placed(tool, where), mode, tool.public_env),
        *_public_env(tool, where, mode),
        *_pins(tool, where),
        *bodies.flat(tool.query, at(where, "query")),
        *headers.problems(tool.headers, tool.body_type, at(where, "headers")),
        *_identity(tool, where),
        *bodies.problems(tool.method, tool.body_type, tool.body, at(where, "body")),
        *(auth.problems(tool.auth, at(where, "auth"), mode, tool.public_env) if tool.auth else ()),
        *_address(tool, where),
        *_parameters(tool, where),
        *_size(tool, where),
    ]


def hosts(tool: Declared, *, where: str, domains: Collection[str]) -> list[Problem]:
    """The hosts, of the tool and of its login, that none of `domains` covers; what is no URL has none."""
    said = [(tool.url, "url")]
    if tool.auth is not None:
        text, place = auth.url(tool.auth)
        said.append((text, at("auth", place)))
    found = []
    for text, place in said:
        try:
            host = urls.parse(text).host
        except url.InvalidUrlError:
            continue
        if not is_covered(domains, host):
            shown = ", ".join(sorted(domains)[:_APPROVED_SHOWN_MAX]) or "none"
            found.append(
                Problem(field=at(where, place), message=f"host {host} is not approved for this task; approved: {shown}")
            )
    return found


def uses(tool: Declared) -> frozenset[str]:
    """The names of the credentials that a request of it has, but for its login's."""
    return references.secrets(_placed(tool, ""), tool.public_env)


def token_secrets(tool: Declared) -> frozenset[str]:
    """The names of the credentials that its login has."""
    return references.secrets(references.login_texts(tool.auth), tool.public_env) if tool.auth else frozenset()


def _placed(tool: Declared, where: str) -> list[references.Placed]:
    return list(
        references.texts({"params": tool.params, "query": tool.query, "headers": tool.headers, "body": tool.body}, where)
    )


def _texts(tool: Declared, where: str) -> Iterator[Problem]:
    if not NAME.fullmatch(tool.name):
        message = "must be letters, digits, '_' and '-', begin with a letter or '_', at most 64"
        yield Problem(field=at(where, "name"), message=message)
    elif tool.name in BUILT_IN:
        yield Problem(field=at(where, "name"), message="is the name of a built-in tool")
    for name in ("description", "summary"):
        text = getattr(tool, name)
        if len(text) > DESCRIPTION_CHARACTERS_MAX:
            message = f"must be at most {DESCRIPTION_CHARACTERS_MAX} characters, is {len(text)}"
            yield Problem(field=at(where, name), message=message)
        if (found := plain_problem(text, at(where, name), depth=1)) is not None:
            yield found
    if not all(200 <= status <= 599 for status in tool.ok_statuses):
        yield Problem(field=at(where, "ok_statuses"), message="must be a list of HTTP statuses of 200 to 599")


def _pins(tool: Declared, where: str) -> Iterator[Problem]:
    for name, value in tool.params.items():
        place = at(where, "params", name)
        several = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(each, Mapping | list | tuple) for each in several):
            yield Problem(field=place, message="must be a text, a number, true, false, or a list of these")
        if name in tool.parameters:
            yield Problem(field=place, message="is pinned and a parameter: take one of them out")
        for _, named, _ in references.names(references.texts({name: value})):
            if named.root in tool.params and named.store is None:
                yield Problem(field=place, message="names what is pinned itself")
            if references.is_secret(named, tool.public_env) and isinstance(value, list | tuple):
                yield Problem(field=place, message="has a secret in a list: it may stand in a text")
    secret = {name for name in tool.params if _secret(tool, name)}
    for place, named, condition in references.names(_placed(tool, where)):
        if condition and named.store is None and named.root in secret:
            yield Problem(field=place, message="has a secret in a condition: what is sent would tell of it")


def _identity(tool: Declared, where: str) -> Iterator[Problem]:
    """Tell of headers that say who asks, where the model would say it: directly, or through what is pinned."""
    pinned = {pin for pin in tool.params if _of_model(tool, {pin: tool.params[pin]})}
    for name, value in tool.headers.items():
        if is_identity_header(name) and _of_model(tool, {name: value}, pinned):
            message = "tells a service who asks, and the model would say it: write the value out"
            yield Problem(field=at(where, "headers", name), message=message)


def _of_model(tool: Declared, values: Mapping[str, Any], pinned: Collection[str] = ()) -> bool:
    named = references.names(references.texts(values))
    return any(each.store is None and (each.root in tool.parameters or each.root in pinned) for _, each, _ in named)


def _secret(tool: Declared, pin: str) -> bool:
    return bool(references.secrets(references.texts({pin: tool.params[pin]}), tool.public_env))


def _public_env(tool: Declared, where: str, mode: Mode) -> Iterator[Problem]:
    """Yield what is wrong with the list of variables that are not secret: each must be one that a template names."""
    place = at(where, "public_env")
    if tool.public_env and mode is not Mode.EMBEDDED:
        yield Problem(field=place, message="names variables of the environment, which no task reads: write their values out")
        return
    named = references.variables([*_placed(tool, ""), *(references.login_texts(tool.auth) if tool.auth else ())])
    for name in tool.public_env:
        if name not in named:
            message = f"names {name[:64]!r}, which no template names: write {{{{env.NAME}}}} where it is used, or take it out"
            yield Problem(field=place, message=message)


def _address(tool: Declared, where: str) -> Iterator[Problem]:
    try:
        address = urls.parse(tool.url)
    except url.InvalidUrlError as error:
        yield Problem(field=at(where, "url"), message=str(error))
        return
    in_path, in_query = set(address.in_path()), {each.name for each in address.in_query()}
    for name in sorted(in_path | in_query):
        parameter = tool.parameters.get(name)
        if parameter is None and name not in tool.params:
            yield Problem(
                field=at(where, "url"), message=f"has the placeholder {name[:64]}, which is neither a parameter nor pinned"
            )
        elif name in in_path and name in tool.params and _secret(tool, name):
            message = "has a secret for the path of the URL: every log on the way would have it. Send it in a header"
            yield Problem(field=at(where, "params", name), message=message)
        elif name in in_path and parameter and not parameter.required and "default" not in parameter.schema:
            message = "stands in the path of the URL: it must be required, or have a default"
            yield Problem(field=at(where, "parameters", name), message=message)
    yield from _wire(tool, address, where)
    named = {named.root for _, named, _ in references.names(_placed(tool, "")) if named.store is None}
    for name in tool.params:
        if name not in in_path | in_query | named:
            yield Problem(
                field=at(where, "params", name), message="pins nothing: there is no placeholder or template of that name"
            )
    for name in tool.parameters:
        if name not in in_path | in_query | named:
            message = "is used nowhere: there is no placeholder or template of that name"
            yield Problem(field=at(where, "parameters", name), message=message)


def wire_names(tool: Declared, address: urls.Address) -> list[tuple[str, str]]:
    """The names that the query has by its declaration, each with the field that gives it; a name comes once of each."""
    body = tool.body if tool.body_type is BodyType.QUERY and isinstance(tool.body, Mapping) else {}
    token = auth.query_name(tool.auth)
    said: dict[str, Any] = {"url": dict.fromkeys(address.query_names()), "query": tool.query, "body": body}
    if token is not None:
        said["auth.apply.name"] = (token,)
    return [(name, field) for field, names in said.items() for name in names]


def _wire(tool: Declared, address: urls.Address, where: str) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for name, field in wire_names(tool, address):
        if name in seen:
            yield Problem(field=at(where, field), message=f"says '{name[:64]}' of the query, as {seen[name]} does already")
        seen.setdefault(name, field)
    token = auth.header_name(tool.auth)
    if token is not None and normalize_header(token) in {normalize_header(name) for name in tool.headers}:
        yield Problem(field=at(where, "headers"), message=f"has {token[:64]}, which auth sets")


def _parameters(tool: Declared, where: str) -> Iterator[Problem]:
    if len(tool.parameters) > PARAMETERS_MAX:
        message = f"must be at most {PARAMETERS_MAX}, are {len(tool.parameters)}"
        yield Problem(field=at(where, "parameters"), message=message)
    for name, parameter in tool.parameters.items():
        place = at(where, "parameters", name)
        if not _PARAMETER.fullmatch(name):
            yield Problem(field=place, message="must be letters, digits and '_', begin with a letter or '_', at most 64")
        if (wrong := schemas.problem(parameter)) is not None:
            yield Problem(field=place, message=wrong)
    known = {*tool.parameters, *tool.params, *STATE}
    for place, named, _ in references.names(_placed(tool, where)):
        if named.store is None and named.root not in known:
            yield Problem(
                field=place, message=f"names '{named.root[:64]}', which is no parameter, is not pinned and has no value"
            )


def _size(tool: Declared, where: str) -> Iterator[Problem]:
    size = len(json.dumps(asdict(tool)).encode())
    if size > DECLARATION_BYTES_MAX:
        yield Problem(field=where, message=f"must be at most {DECLARATION_BYTES_MAX} bytes as JSON, is {size}")
