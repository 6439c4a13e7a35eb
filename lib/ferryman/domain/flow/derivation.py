"""Derivation of flow signatures from definitions of tools: names, descriptions, JSON Schemas, HTTP methods and URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ferryman.domain.flow.roles import classify_argument, is_executable, is_locator
from ferryman.domain.flow.signature import ArgumentFlow, FlowSignature
from ferryman.domain.flow.verbs import SAFE_METHODS, classify_action
from ferryman.domain.flow.words import read_words, split_words
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.http.request import Method
from ferryman.domain.tools.correction import ArgumentRole
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.tool import Tool

PEOPLE_WORDS = ("contact", "contacts")
"""What people alone write; a tool that reads it is named after it, such as `search_contacts` or `find_contact`."""

_FILES_OF_OWNER = ("files",)
"""What a tool changes whose content the owner alone reads."""

_PREPOSITIONS = read_words("at by for from in of on to with")
_PLACEHOLDER = re.compile(r"\{\??([^{}?]{1,500})\??\}")


def derive_signature(
    name: str, description: str, schema: Mapping[str, Any], *, method: str | None = None, is_own: bool = False
) -> FlowSignature:
    """Return the flow signature of a tool, as far as its definition tells: what is not recognized has an effect, and decides.

    `method` is that of its HTTP request. `is_own` tells that the operator wrote the definition, not a stranger: only then is a
    tool believed to read what people alone write.
    """
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    definitions = schema.get("$defs") or schema.get("definitions")
    definitions = definitions if isinstance(definitions, Mapping) else {}
    action, words = classify_action(name, description, method), split_words(name)
    reads_only = action.reads_only and not any(map(is_executable, properties))
    locators = [argument for argument, part in properties.items() if is_locator(argument, part, definitions)]
    arguments = {argument: classify_argument(argument, part, definitions, tool=words) for argument, part in properties.items()}
    if reads_only:
        arguments = {argument: _free(flow, decides=argument in locators) for argument, flow in arguments.items()}
    return FlowSignature(
        tool=name,
        changes=not reads_only,
        sends=bool(locators),
        destroys=action.destroys,
        reads_people=is_own and reads_only and not locators and _reads_people(words),
        arguments=arguments,
    )


def derive_declared(tool: DeclaredTool) -> FlowSignature:
    """Return the flow signature of a declared or imported HTTP tool.

    What is in the path of a request with an effect names the thing that it changes; what is in the host decides where any
    request goes.
    """
    signature = derive_signature(tool.name, tool.description or tool.summary, tool.schema, method=tool.method)
    authority, _, path = tool.url.partition("://")[2].partition("/")
    in_host, in_path = _list_placeholders(authority), _list_placeholders(path.partition("?")[0])
    arguments = dict(signature.arguments)
    for name in in_host | (in_path if signature.changes else frozenset()):
        if name in arguments:
            arguments[name] = replace(arguments[name], role=ArgumentRole.DECIDES, identifies=name in in_path)
    return replace(signature, sends=signature.sends or not in_host.isdisjoint(arguments), arguments=arguments)


def derive_remote(name: str) -> FlowSignature:
    """Return the flow signature of a tool of an MCP server: it changes, it sends, and every argument decides.

    Nothing that its server wrote makes it one that only reads. Its owner may say so (`tool_settings`).
    """
    return FlowSignature(tool=name, changes=True, sends=True)


def derive_built_in(tool: Tool) -> FlowSignature:
    """Return the flow signature of a built-in tool: what is decided about it in the catalog, where that says so.

    One that only reads sends nothing of the owner's to where its arguments say: it reads at hosts that the owner allowed, at
    the operator's endpoint, or a page whose whole URL was seen before (`domain.urls`). What is kept in the owner's own files
    is read by nobody else.
    """
    derived = derive_signature(tool.name, tool.description, tool.schema, is_own=True)
    policy = tool.policy
    arguments = derived.arguments
    if policy.decided_by is not None:
        objects = {name for name, part in tool.schema.get("properties", {}).items() if part.get("type") == "object"}
        arguments = {
            name: _fix(
                flow, decides=name in policy.decided_by, is_whole=name not in objects, is_own=policy.changes == _FILES_OF_OWNER
            )
            for name, flow in arguments.items()
        }
    return replace(derived, changes=bool(policy.changes), sends=False, reads_people=False, arguments=arguments)


def narrow_by_method(signature: FlowSignature, tool: Tool, arguments: Mapping[str, Any]) -> FlowSignature:
    """Return the signature of one call of a tool whose arguments name an HTTP method: a safe one changes nothing.

    A method alone does not say where an effect goes; one that deletes has to be what the owner says as well.
    """
    method = arguments.get("method")
    if tool.policy.network is not NetworkPolicy.REGISTRY or "method" not in signature.arguments or not isinstance(method, str):
        return signature
    if method in SAFE_METHODS:
        return replace(signature, changes=False, sends=False)
    if method == Method.DELETE:
        return replace(signature, destroys=True)
    detail = replace(signature.arguments["method"], role=ArgumentRole.DETAIL)
    return replace(signature, arguments={**signature.arguments, "method": detail})


def _reads_people(words: tuple[str, ...]) -> bool:
    """Tell whether the thing that a tool reads, the last word before any preposition, is what people alone write."""
    end = next((index for index, word in enumerate(words) if word in _PREPOSITIONS), len(words))
    return end > 0 and words[end - 1] in PEOPLE_WORDS


def _free(flow: ArgumentFlow, *, decides: bool) -> ArgumentFlow:
    return replace(flow, role=ArgumentRole.DECIDES if decides else ArgumentRole.DETAIL, is_whole=True)


def _fix(flow: ArgumentFlow, *, decides: bool, is_whole: bool, is_own: bool) -> ArgumentFlow:
    """Return the role that a list of what decides leaves an argument: what is not in it may still be content.

    In an object that decides, each value has the role that its own name says.
    """
    if decides:
        return replace(flow, role=ArgumentRole.DECIDES, is_whole=is_whole)
    if is_own:
        return replace(flow, role=ArgumentRole.FREE, is_whole=True)
    role = ArgumentRole.CONTENT if flow.role is ArgumentRole.DECIDES else flow.role
    return replace(flow, role=role, is_whole=True)


def _list_placeholders(template: str) -> frozenset[str]:
    """Return the names of the placeholders in a part of a URL: `{X}`, `{X?}` and `{?a&b}`."""
    return frozenset(name for match in _PLACEHOLDER.finditer(template) for name in match[1].split("&"))
