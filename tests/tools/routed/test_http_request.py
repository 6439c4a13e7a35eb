"""http_request: which tool executes a call, by its method and credential, and with which arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.tools.routed import ROUTES, find_route
from ferryman.tools.routed.http_request import choose_route

URL = "https://api.coingecko.com/a"
TOOL = TOOLS["http_request"]
TARGETS = [TOOLS[name] for name in ("api_call", "http_get", "http_post")]


def convert(**arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return the tool that executes a call of these arguments, and what it is converted."""
    route = choose_route({"url": URL, **arguments})
    return route.tool, route.convert({"url": URL, **arguments})


def refuse(**arguments: Any) -> str:
    with pytest.raises(CallRefusedError) as refused:
        choose_route({"url": URL, **arguments})
    return refused.value.refusal.message


@pytest.mark.parametrize("method", [{}, {"method": "GET"}, {"method": "get"}, {"method": None}])
@pytest.mark.parametrize("credential", [{}, {"credential": ""}, {"credential": None}])
def test_a_get_without_a_credential_is_that_of_http_get(method: dict[str, Any], credential: dict[str, Any]) -> None:
    assert convert(**method, **credential) == ("http_get", {"url": URL})


@pytest.mark.parametrize("method", ["POST", "post", "Post"])
def test_a_post_without_a_credential_is_that_of_http_post(method: str) -> None:
    assert convert(method=method, body={"a": 1}) == ("http_post", {"url": URL, "body": {"a": 1}})


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "get", "delete"])
def test_a_call_with_a_credential_is_that_of_api_call(method: str) -> None:
    converted = {"url": URL, "credential": "KEY", "method": method.upper()}
    assert convert(method=method, credential="KEY") == ("api_call", converted)


def test_a_call_with_a_credential_alone_is_a_get() -> None:
    assert convert(credential="KEY") == ("api_call", {"url": URL, "credential": "KEY", "method": "GET"})


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_what_only_api_call_does_is_its_call_without_a_credential_too(method: str) -> None:
    assert convert(method=method) == ("api_call", {"url": URL, "method": method})


@pytest.mark.parametrize("credential", [5, [], {}, " ", ["KEY"]])
def test_a_credential_that_is_none_is_left_to_api_call(credential: Any) -> None:
    assert convert(credential=credential)[0] == "api_call"


@pytest.mark.parametrize("fields", [{}, {"credential": "KEY"}, {"method": "POST", "body": {}}])
def test_the_query_is_what_the_other_tools_call_query_params(fields: dict[str, Any]) -> None:
    _, converted = convert(query={"q": "a b"}, **fields)
    assert (converted["query_params"], "query" in converted) == ({"q": "a b"}, False)


def test_headers_are_passed_on_as_they_are() -> None:
    assert convert(headers={"Accept": "text/plain"})[1]["headers"] == {"Accept": "text/plain"}


def test_an_argument_that_no_tool_has_is_passed_on_and_so_refused_by_the_tool() -> None:
    assert convert(timeout=5)[1] == {"url": URL, "timeout": 5}


def test_arguments_that_were_left_out_of_the_record_choose_no_route() -> None:
    with pytest.raises(CallRefusedError, match="'url' field required for http_request"):
        choose_route({"redacted": "[redacted:KEY]"})


def test_what_is_null_is_not_there() -> None:
    assert convert(method="GET", headers=None, query=None, body=None) == ("http_get", {"url": URL})


@pytest.mark.parametrize("credential", [{}, {"credential": "KEY"}])
@pytest.mark.parametrize("method", ["PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"])
def test_a_method_that_no_tool_has_is_refused_with_those_that_there_are(method: str, credential: dict[str, Any]) -> None:
    expected = f"Error: method '{method}' not allowed for http_request. Allowed: [GET, POST, PUT, DELETE]"
    assert refuse(method=method, **credential) == expected


@pytest.mark.parametrize("method", ["", " GET", "GET ", "GET\r\nX: 1", "ＧＥＴ", "G\u0131T"])
def test_a_method_is_no_other_text(method: str) -> None:
    assert "not allowed for http_request" in refuse(method=method)


@pytest.mark.parametrize("method", [1, ["GET"], {"GET": 1}, True])
def test_a_method_is_a_text(method: Any) -> None:
    assert refuse(method=method) == "Error: 'method' for http_request must be a string"


@pytest.mark.parametrize("credential", [{}, {"credential": "KEY"}])
@pytest.mark.parametrize("method", ["GET", "DELETE", "get"])
def test_a_body_that_would_not_be_sent_is_refused(method: str, credential: dict[str, Any]) -> None:
    expected = f"Error: 'body' for http_request must be left out with {method.upper()}"
    assert refuse(method=method, body={}, **credential) == expected


def test_a_query_under_both_names_is_refused() -> None:
    assert (
        refuse(query={"a": 1}, query_params={"a": 2}) == "Error: 'query' for http_request must be left out beside query_params"
    )


def test_the_only_routed_tool_is_http_request() -> None:
    assert list(ROUTES) == ["http_request"]
    assert find_route("http_get", {"url": URL}) is None


def test_what_the_catalogue_says_of_it_is_the_most_that_a_tool_behind_it_may() -> None:
    policies = [tool.policy for tool in TARGETS]
    assert TOOL.policy.fee == max(policy.fee for policy in policies)
    assert {policy.network for policy in policies} == {TOOL.policy.network}
    assert (TOOL.policy.counts, TOOL.policy.wrapped) == (True, True)
    assert not TOOL.policy.parallel_safe
    for names in ("reads", "changes"):
        assert set(getattr(TOOL.policy, names)) == {name for policy in policies for name in getattr(policy, names)}
    behind = {"query" if name == "query_params" else name for policy in policies for name in policy.decided_by or ()}
    assert set(TOOL.policy.decided_by or ()) == behind


def test_every_argument_leads_to_one_that_the_tools_behind_it_have() -> None:
    names = {"query_params" if name == "query" else name for name in TOOL.schema["properties"]}
    assert names == {name for tool in TARGETS for name in tool.schema["properties"]}


ARGUMENTS = st.dictionaries(
    st.sampled_from([*TOOL.schema["properties"], "query_params", "tool", "x"]),
    st.none() | st.sampled_from(["GET", "post", "PUT", "delete", "PATCH", "", "KEY", URL]) | st.integers() | st.just({}),
)


@given(ARGUMENTS)
def test_any_arguments_lead_to_one_of_the_tools_or_are_refused(arguments: dict[str, Any]) -> None:
    route = find_route("http_request", arguments)
    if route is not None:
        assert route.tool in [tool.name for tool in TARGETS]
        assert {"credential", "method"} & route.convert(arguments).keys() <= set(TOOLS[route.tool].schema["properties"])


@given(ARGUMENTS)
def test_a_call_with_a_credential_is_never_one_of_a_tool_that_sends_none(arguments: dict[str, Any]) -> None:
    route = find_route("http_request", {**arguments, "credential": "KEY"})
    assert route is None or route.tool == "api_call"
