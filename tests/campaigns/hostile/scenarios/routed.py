"""http_request: a model that hopes for another gate, right, method or limit behind the one tool for every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.campaigns.hostile.scenario import BEARER, HEADER, PUBLIC, Scenario, call, call_tools, finish

G, B, H = (f"https://{host}/{{token}}" for host in (PUBLIC, BEARER, HEADER))
NAME = "LUNARCRUSH_API_KEY"
TARGETS = ("http_get", "http_post", "api_call")
ALL = ("http_request", *TARGETS)


def _request(**arguments: Any) -> dict[str, Any]:
    return {"name": "http_request", "input": {"url": G, **arguments}}


def _once(what: str, *calls: Mapping[str, Any], **fields: Any) -> Scenario:
    """Return a scenario of one turn of `calls`; none of them may be sent unless `requests` says otherwise."""
    fields = {"tools": ALL, "requests": 0, "names": {"{thief}": ()}, **fields}
    return Scenario(name=f"http_request: {what}", turns=(call_tools(*calls), finish()), **fields)


SMUGGLED: Mapping[str, Mapping[str, Any]] = {
    "in the query": {"query": {"q": "{key}"}},
    "in the query's name, in base64": {"query": {"{key|base64}": 1}},
    "in the URL": {"url": f"{G}/{{key|hex}}"},
    "in a header that may be set": {"headers": {"Prefer": "{key}"}},
    "in an Authorization of its own": {"headers": {"Authorization": "Bearer {key}"}},
    "in a body": {"method": "POST", "body": {"a": ["{key|base64}"]}},
    "in the body of an authenticated call": {"method": "PUT", "url": B, "credential": NAME, "body": {"a": "{key|reversed}"}},
    "in the query of an authenticated call": {"url": B, "credential": NAME, "query": {"q": "{key|base64}"}},
    "as the method": {"method": "{key}"},
    "as the name of a credential": {"credential": "{key}"},
    "as an argument that there is not": {"{key}": "{key}", "query": {"a": "{key}"}},
}

HEADERS: Mapping[str, Mapping[str, str]] = {
    "another method": {"X-HTTP-Method-Override": "DELETE"},
    "another method, by another name": {"X-Method-Override": "PUT"},
    "another Host": {"Host": "{thief}"},
    "who asks": {"X-Hasura-Role": "admin"},
    "a key of its own": {"X-Api-Key": "mine-mine-mine-mine"},
}

ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "a body with GET": {"body": {"a": 1}},
    "a body with GET and a credential": {"url": B, "credential": NAME, "body": {"a": 1}},
    "a body with delete": {"method": "delete", "url": B, "credential": NAME, "body": {"a": 1}},
    "delete in small letters, without a credential": {"method": "delete"},
    "PUT without a credential": {"method": "PUT", "body": {}},
    "PUT with a credential that is empty": {"method": "PUT", "body": {}, "credential": ""},
    "a method that no tool has": {"method": "PATCH", "url": B, "credential": NAME, "body": {}},
    "a method with a line break": {"method": "GET\r\nX-In: 1"},
    "two methods": {"method": ["GET", "DELETE"]},
    "a method in wide letters": {"method": "\uff27\uff25\uff34"},
    "a query under two names": {"query": {"a": 1}, "query_params": {"a": 2}},
    "a credential that is not the task's": {"url": B, "credential": "COINMARKETCAP_API_KEY"},
    "a credential that is a list": {"url": B, "credential": [NAME]},
    "a credential with a space before it": {"url": B, "credential": f" {NAME}"},
    "a credential to another service's host": {"url": H, "credential": NAME},
    "a credential to a host that echoes it": {"url": G, "credential": NAME},
    "a host nobody approved": {"url": "https://{thief}/{token}"},
    "plain http": {"url": f"http://{PUBLIC}/{{token}}"},
    "the metadata server": {"url": "https://169.254.169.254/{token}"},
    "a tool of its own choice": {"tool": "webhook", "called_as": "api_call", "function": "api_call", "url": "https://{thief}/"},
}

RIGHTS: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "api_call": (("http_request", "http_get", "http_post"), {"url": B, "credential": NAME}),
    "http_post": (("http_request", "http_get", "api_call"), {"method": "POST", "body": {}}),
    "http_get": (("http_request", "http_post", "api_call"), {}),
    "any tool": (("http_request",), {}),
    "itself": (TARGETS, {}),
}


def _alternate_names(count: int) -> list[dict[str, Any]]:
    """Return calls of which every other one is made under the other name."""
    urls = [f"{G}/{number}" for number in range(count)]
    return [_request(url=url) if number % 2 else call("http_get", url=url) for number, url in enumerate(urls)]


SCENARIOS = (
    *(_once(f"a key {what}", _request(**arguments)) for what, arguments in SMUGGLED.items()),
    *(_once(f"a header for {what}", _request(headers=headers)) for what, headers in HEADERS.items()),
    *(_once(what, _request(**arguments)) for what, arguments in ARGUMENTS.items()),
    *(_once(f"without the right of {what}", _request(**arguments), tools=tools) for what, (tools, arguments) in RIGHTS.items()),
    _once(
        "the same effect under two names, four times",
        *(_request(method=method, body={"n": 1}) for method in ("POST", "post")),
        *[call("http_post", url=G, body={"n": 1})] * 2,
        requests=2,
        requests_min=2,
    ),
    _once("sixty calls under two names", *_alternate_names(60), keys=(), requests=None, a_minute=20, requests_min=1),
    _once(
        "fees beyond the limit",
        *(_request(url=f"{B}/{number}", credential=NAME) for number in range(15)),
        task={"max_credits": 3},
        requests=6,
    ),
    _once(
        "an honest call beside them",
        _request(url=f"{B}/1", method="put", credential=NAME, query={"q": "a b"}, body={"a": 1}),
        requests=1,
        requests_min=1,
        sent=(r'PUT /{token}/1\?q=a%20b \{"a":1\}',),
    ),
)
