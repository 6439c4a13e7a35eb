"""The built-in tools: their definitions, and the requests of their arguments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.tools.http import PARSERS

CALL = {"method": "GET", "url": "https://a.test/", "credential": "KEY"}

API_CALL = {
    "name": "api_call",
    "description": (
        "Make an authenticated HTTP request to an external API. The credential is injected automatically into the auth "
        "header -- never include API keys in the URL, body, or custom headers."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "method": {"type": "string", "enum": ["GET", "POST", "PUT", "DELETE"], "description": "HTTP method"},
            "url": {"type": "string", "description": "The API endpoint URL (HTTPS only)"},
            "credential": {"type": "string", "description": "Name of the credential to use (e.g., LUNARCRUSH_API_KEY)"},
            "headers": {"type": "object", "description": "Additional request headers (do NOT include auth headers)"},
            "body": {"type": "object", "description": "Request body for POST/PUT (JSON)"},
            "query_params": {"type": "object", "description": "URL query parameters"},
        },
        "required": ["method", "url", "credential"],
    },
}


def refusal(tool: str, arguments) -> str:
    with pytest.raises(CallRefusedError) as refused:
        PARSERS[tool](arguments)
    return refused.value.refusal.message


def test_there_are_exactly_four():
    kinds = [tool.name for tool in TOOLS.values() if tool.kind == "http"]
    assert kinds == list(PARSERS) == ["api_call", "http_get", "http_post", "webhook"]


def test_the_definition_of_api_call_is_kept_word_for_word():
    assert TOOLS["api_call"].to_definition() == API_CALL


@pytest.mark.parametrize(
    ("tool", "required", "properties"),
    [
        ("http_get", ["url"], {"url", "headers", "query_params"}),
        ("http_post", ["url", "body"], {"url", "body", "headers", "query_params"}),
        ("webhook", ["url", "body"], {"url", "body"}),
    ],
)
def test_the_other_schemas_ask_for_what_the_tool_needs(tool, required, properties):
    schema = TOOLS[tool].schema
    assert (schema["required"], set(schema["properties"])) == (required, properties)


def test_a_missing_credential_is_what_is_said_first():
    assert refusal("api_call", {"method": "PATCH"}) == "Error: 'credential' field required for api_call"


@pytest.mark.parametrize("empty", [{}, {"credential": ""}, {"credential": None}])
def test_no_credential_is_no_credential_however_it_is_left_out(empty):
    assert refusal("api_call", {"method": "GET", "url": "https://a.test/", **empty}).startswith("Error: 'credential' field")


def test_a_method_outside_the_enum_is_refused_with_the_allowed_ones():
    message = "Error: method 'PATCH' not allowed for api_call. Allowed: [GET, POST, PUT, DELETE]"
    assert refusal("api_call", {**CALL, "method": "PATCH"}) == message


def test_a_method_is_read_in_any_case():
    assert PARSERS["api_call"]({**CALL, "method": "delete"}).method is Method.DELETE


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_body_is_ignored_where_the_method_has_none(method):
    assert PARSERS["api_call"]({**CALL, "method": method, "body": {"a": 1}}).body is None


def test_http_get_only_gets_and_sends_no_credential():
    outbound = PARSERS["http_get"]({"url": "https://a.test/"})
    assert (outbound.method, outbound.credential) == (Method.GET, None)


@pytest.mark.parametrize("tool", ["http_post", "webhook"])
def test_the_posting_tools_post_their_body_and_send_no_credential(tool):
    outbound = PARSERS[tool]({"url": "https://a.test/", "body": {"text": "done"}})
    assert (outbound.method, outbound.body, outbound.credential) == (Method.POST, {"text": "done"}, None)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("http_get", {}, "Error: 'url' field required for http_get"),
        ("http_post", {"url": "https://a.test/"}, "Error: 'body' field required for http_post"),
        ("webhook", {"body": {}}, "Error: 'url' field required for webhook"),
        ("http_get", {"url": 7}, "Error: 'url' for http_get must be a string"),
        ("http_get", {"url": "x", "headers": ["a"]}, "Error: 'headers' for http_get must be an object"),
        ("webhook", {"url": "x", "body": "text"}, "Error: 'body' for webhook must be an object"),
        ("api_call", {**CALL, "query_params": "a=1"}, "Error: 'query_params' for api_call must be an object"),
        ("api_call", {**CALL, "credential": 5}, "Error: 'credential' for api_call must be a string"),
    ],
)
def test_a_wrong_argument_is_named(tool, arguments, message):
    assert refusal(tool, arguments) == message


def test_an_argument_nested_without_end_is_refused():
    deep: dict = {}
    for _ in range(10_000):
        deep = {"a": deep}
    message = "Error: 'arguments' for webhook must be nested at most 64 deep"
    assert refusal("webhook", {"url": "https://a.test/", "body": deep}) == message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
ARGUMENTS = st.dictionaries(st.sampled_from([*API_CALL["input_schema"]["properties"], "other"]), JSON)


@given(st.sampled_from(sorted(PARSERS)), ARGUMENTS)
def test_whatever_the_model_writes_becomes_a_request_or_a_refusal(tool, arguments):
    try:
        result = PARSERS[tool](arguments)
    except CallRefusedError as refused:
        result = refused.refusal.message
    assert isinstance(result, OutboundRequest) or result.startswith("Error: ")
