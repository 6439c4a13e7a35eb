"""http_request: one tool for every HTTP request, executed by api_call, http_get or http_post (S4-121).

A GET without a credential is http_get's, a POST without one is http_post's, and everything else is api_call's, which says so
where its credential is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.route import CallRoute
from ferryman.domain.http.request import Method
from ferryman.tools.arguments import parse_method

TOOL = TOOLS["http_request"]
METHODS = (Method.GET, Method.POST, Method.PUT, Method.DELETE)
WITH_BODY = (Method.POST, Method.PUT)
AUTHENTICATED, READING, POSTING = TOOLS["api_call"], TOOLS["http_get"], TOOLS["http_post"]

RENAMED = {"query": "query_params"}


def choose_route(arguments: Mapping[str, Any]) -> CallRoute:
    """Return the route of a call. Raise `CallRefusedError` for a method that no tool has, or a body that none sends."""
    present = {name: value for name, value in arguments.items() if value is not None}
    if not isinstance(present.get("url"), str):
        # also where the record has none of the arguments, since a credential was in them: no route can be chosen by it
        raise CallRefusedError(refusal.refuse_missing_argument(TOOL.name, "url"))
    method = parse_method(TOOL, {"method": Method.GET.value, **present}, METHODS)
    if "body" in present and method not in WITH_BODY:
        # not left out in silence: no request goes out that differs from the one that was asked for
        raise CallRefusedError(refusal.refuse_wrong_argument(TOOL.name, "body", f"left out with {method.value}"))
    for name, its_name in RENAMED.items():
        if name in present and its_name in present:
            raise CallRefusedError(refusal.refuse_wrong_argument(TOOL.name, name, f"left out beside {its_name}"))
    if present.get("credential", "") != "" or method not in (Method.GET, Method.POST):
        return CallRoute(tool=AUTHENTICATED.name, renamed=RENAMED, fixed={"method": method.value})
    tool = READING if method is Method.GET else POSTING
    return CallRoute(tool=tool.name, renamed=RENAMED, left_out=frozenset(("method", "credential")))
