"""Entries: what is wrong with one, named by its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferryman.catalog.tools import TOOLS
from ferryman.declared import check, entry
from ferryman.declared.templates import Mode
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.tools.names import PREFIX, has_prefix
from tests.declared.entries import CLIENT, EXCHANGE, HOST, URL, fault, faults, read


@pytest.mark.parametrize(
    ("fields", "place", "says"),
    [
        ({"kind": "mcp"}, "kind", "must be http"),
        ({"kind": None}, "kind", "is required"),
        ({"name": "1x"}, "name", "begin with a letter"),
        ({"name": "a" * 65}, "name", "at most 64"),
        ({"name": "api_call"}, "name", "built-in"),
        ({"name": 7}, "name", "must be a text"),
        ({"url": None}, "url", "is required"),
        ({"url": "http://a.test/"}, "url", "https"),
        ({"url": URL + "/{x?}"}, "url", "optional placeholder"),
        ({"method": "TRACE"}, "method", "GET, POST"),
        ({"description": "x" * 4_001}, "description", "at most 4000"),
        ({"colour": "red"}, "colour", "is not a field; fields are: kind, name"),
        ({"enabled": "yes"}, "enabled", "true or false"),
        ({"ok_statuses": [99]}, "ok_statuses", "200 to 599"),
        ({"ok_statuses": 404}, "ok_statuses", "200 to 599"),
        ({"public_env": "REGION"}, "public_env", "must be a list of texts"),
        ({"public_env": [1]}, "public_env", "must be a list of texts"),
        ({"body_type": "xml"}, "body_type", "json, form, query"),
        # templates
        ({"headers": {"X-A": "{{a"}}, "headers.X-A", "no '}}' closes"),
        ({"query": {"a": "{{env.HOME}}"}}, "query.a", "which no task reads"),
        ({"query": {"a": "{{secrets.lower}}"}}, "query.a", "must name a credential"),
        ({"query": {"a": "{{secrets.A.b}}"}}, "query.a", "must name a credential"),
        ({"query": {"a": "{{#if secrets.A}}x{{/if}}"}}, "query.a", "secret in a condition"),
        ({"method": "POST", "body": {"a": [{"b": "{{#item x}}"}]}}, "body.a.0.b", "block other than"),
        ({"method": "POST", "body": {"{{a}}": 1}}, "body", "names must be written out"),
        # pins
        ({"url": URL + "/{k}", "params": {"k": "{{secrets.KEY}}"}}, "params.k", "every log on the way"),
        ({"params": {"k": "v"}}, "params.k", "pins nothing"),
        ({"url": URL + "{?a}", "params": {"a": "{{a}}"}}, "params.a", "pinned itself"),
        ({"url": URL + "{?a}", "params": {"a": {"b": 1}}}, "params.a", "a list of these"),
        ({"url": URL + "{?a}", "params": {"a": ["{{secrets.KEY}}"]}}, "params.a", "in a list"),
        ({"url": URL + "{?a}", "params": {"a": 1}, "parameters": {"a": {}}}, "params.a", "remove one of them"),
        (
            {"url": URL + "{?a}", "params": {"a": "{{secrets.KEY}}"}, "headers": {"X-A": "{{#if a}}1{{/if}}"}},
            "headers.X-A",
            "secret in a condition",
        ),
        # the query
        ({"url": URL + "?a=1", "query": {"a": "2"}}, "query", "as url does already"),
        ({"url": URL + "?%61={x}", "query": {"a": "2"}}, "query", "as url does already"),
        ({"query": {"a": "2"}, "body_type": "query", "body": {"a": 1}}, "body", "as query does already"),
        ({"query": {"a": {"b": 1}}}, "query.a", "a list of these"),
        ({"query": {"": 1}}, "query", "without a name"),
        # headers
        ({"headers": {"Host": "x"}}, "headers.Host", "frames or routes"),
        ({"headers": {"X-Forwarded-For": "x"}}, "headers.X-Forwarded-For", "frames or routes"),
        ({"headers": {"X_Goog_Api_Key": "x"}}, "headers.X_Goog_Api_Key", "frames or routes"),
        ({"headers": {"Content-Length": "1"}}, "headers.Content-Length", "frames or routes"),
        ({"headers": {"Accept-Encoding": "br"}}, "headers.Accept-Encoding", "frames or routes"),
        ({"headers": {"A B": "1"}}, "headers.A B", "HTTP header name"),
        ({"headers": {"X-A": "1", "x_a": "2"}}, "headers.x_a", "is declared twice"),
        ({"headers": {"X-A": "a\r\nX-B: c"}}, "headers.X-A", "one line"),
        ({"headers": {"X-A": "ü"}}, "headers.X-A", "printable ASCII"),
        ({"headers": {"X-A": " a"}}, "headers.X-A", "space"),
        ({"headers": {"X-A": ["a"]}}, "headers.X-A", "must be a text"),
        ({"headers": {"Content-Type": "text/plain"}, "method": "POST", "body": {}}, "headers.Content-Type", "application/json"),
        ({"headers": {"Content-Type": "{{a}}"}}, "headers.Content-Type", "written out"),
        # bodies
        ({"body": {"a": 1}}, "body", "only with POST"),
        ({"method": "HEAD", "body": {"a": 1}}, "body", "only with POST"),
        ({"method": "POST", "body_type": "form", "body": [1]}, "body", "must be an object"),
        ({"method": "POST", "body_type": "form", "body": "a={{a}}"}, "body", "must be an object"),
        ({"method": "POST", "body_type": "form", "body": {"a": {"b": 1}}}, "body.a", "a list of these"),
        *(
            ({"method": "POST", "body_type": "multipart", **fields}, place, message)
            for fields, place, message in (
                ({"body": [1]}, "body", "must be an object"),
                ({"body": {'a"b': 1}}, "body", "whose name is not"),
                ({"body": {"{{a}}": 1}}, "body", "whose name is not"),
                ({"body": {"a": {"filename": "x"}}}, "body.a", "an object with content"),
                ({"body": {"a": {"content": 1, "headers": {}}}}, "body.a", "an object with content"),
                ({"body": {"a": {"content": 1, "filename": "a/b"}}}, "body.a.filename", "must be a file name"),
                ({"body": {"a": {"content": 1, "filename": 1}}}, "body.a.filename", "must be a file name"),
                ({"body": {"a": {"content": 1, "content_type": "csv"}}}, "body.a.content_type", "must be a media type"),
                ({"body": {"a": {"content": 1, "filename": "{{secrets.API_KEY}}"}}}, "body.a.filename", "has a secret"),
                ({"body": {"a": {"content": {"{{b}}": 1}}}}, "body.a.content", "a template for a name"),
                ({"body": {}, "headers": {"Content-Type": "multipart/form-data"}}, "headers.Content-Type", "a boundary"),
            )
        ),
        # parameters
        ({"parameters": {"a": {}}}, "parameters.a", "is not used"),
        ({"query": {"a": "{{a}}"}, "parameters": {"a": "string"}}, "parameters.a", "JSON Schema"),
        ({"query": {"a": "{{a}}"}, "parameters": {"a": {"style": "matrix"}}}, "parameters.a.style", "repeat, comma"),
        ({"query": {"a": "{{a}}"}, "parameters": {"a": {"type": "text"}}}, "parameters.a", "not a JSON Schema at type"),
        ({"query": {"a": "{{a}}"}, "parameters": {"a": {"$ref": "#/x"}}}, "parameters.a", "$ref"),
        ({"url": URL + "/{a}", "parameters": {"a": {"required": False}}}, "parameters.a", "is in the path"),
        ({"query": {f"q{n}": f"{{{{p{n}}}}}" for n in range(101)}}, "parameters", "at most 100, are 101"),
        ({"method": "POST", "body": "x" * 65_536}, "", "at most 65536 bytes"),
        # auth
        ({"auth": {"type": "basic"}}, "auth.type", "must be one of"),
        ({"auth": "x"}, "auth", "must be an object"),
        ({"auth": {**CLIENT, "token_url": "http://a.test/"}}, "auth.token_url", "https"),
        ({"auth": {**CLIENT, "token_url": "https://{h}.test/"}}, "auth.token_url", "written out"),
        ({"auth": {**CLIENT, "client_secret": "{{password}}"}}, "auth.client_secret", "only secrets"),
        ({"auth": {**CLIENT, "client_secret": "{{env.X}}"}}, "auth.client_secret", "which no task reads"),
        ({"auth": {**CLIENT, "cache_ttl": 0}}, "auth.cache_ttl", "1 to 2592000"),
        ({"auth": {**CLIENT, "refresh_on": [200]}}, "auth.refresh_on", "400 to 599"),
        ({"auth": {**CLIENT, "creds_location": "query"}}, "auth.creds_location", "basic_header, body"),
        ({"auth": {**CLIENT, "user": "x"}}, "auth.user", "is not a field"),
        ({"auth": CLIENT, "headers": {"authorization": "x"}}, "headers", "which auth sets"),
        ({"auth": {**EXCHANGE, "extract": {}}}, "auth.extract.token_path", "is required"),
        ({"auth": {**EXCHANGE, "extract": {"token_path": "$..a"}}}, "auth.extract.token_path", "filters"),
        (
            {"auth": {**EXCHANGE, "extract": {"response_format": "text", "token_path": "$.a"}}},
            "auth.extract.token_path",
            "response_format json",
        ),
        ({"auth": {**EXCHANGE, "apply": {"name": "Cookie"}}}, "auth.apply.name", "frames or routes"),
        ({"auth": {**EXCHANGE, "apply": {"format": "Bearer"}}}, "auth.apply.format", "{token} once"),
        ({"auth": {**EXCHANGE, "apply": {"format": "{token}\r\nX: y"}}}, "auth.apply.format", "one line"),
        ({"auth": {**EXCHANGE, "apply": {"location": "query", "name": "a"}}, "query": {"a": 1}}, "auth.apply.name", "already"),
        (
            {"auth": {**EXCHANGE, "request": {"url": f"https://{HOST}/", "method": "GET", "body": {}}}},
            "auth.request.body",
            "POST",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(fields: dict[str, Any], place: str, says: str) -> None:
    message = fault(**fields)
    assert message.startswith(f"tools.0.{place} " if place else "tools.0 ")
    assert says in message


def test_all_that_is_wrong_is_told_at_once() -> None:
    assert [tool.field for tool in faults(name=3, method="X", colour=1)] == ["tools.0.name", "tools.0.method", "tools.0.colour"]


def test_no_task_has_variables_that_are_not_secret() -> None:
    assert fault(public_env=["REGION"]).startswith("tools.0.public_env names variables of the environment, which no task reads")


def test_what_is_not_secret_does_not_change_what_a_tool_does() -> None:
    fields = {"kind": "http", "name": "a", "url": URL, "headers": {"X-A": "{{env.KEY}}"}}
    secret, public = (entry.read({**fields, **more}, where="", mode=Mode.EMBEDDED) for more in ({}, {"public_env": ["KEY"]}))
    assert secret.fingerprint == public.fingerprint


def test_embedded_mode_has_the_environment_and_no_secrets() -> None:
    fields = {"kind": "http", "name": "a", "url": URL, "headers": {"X-A": "{{env.KEY}}"}}
    assert entry.read(fields, where="", mode=Mode.EMBEDDED).parameters == {}
    with pytest.raises(InvalidInputError, match=r"write \{\{env.NAME\}\}"):
        entry.read({**fields, "headers": {"X-A": "{{secrets.KEY}}"}}, where="", mode=Mode.EMBEDDED)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", {1: 2}, "\ud800", {"\ud800": 1}, object()])
def test_what_json_cannot_say_is_refused_with_its_place(value: Any) -> None:
    assert fault(body=[value]).startswith("tools.0.body.0 ")


def test_what_is_nested_too_deep_is_refused() -> None:
    deep: Any = "x"
    for _ in range(70):
        deep = [deep]
    assert "nested too deep" in fault(method="POST", body=deep)


def test_a_place_below_nothing_has_no_dot_before_it() -> None:
    with pytest.raises(InvalidInputError) as caught:
        entry.read({"kind": "http", "name": "a", "url": URL, "auth": {"type": 1}}, where="")
    assert [problem.field for problem in caught.value.problems] == ["auth.type"]


def test_hosts_are_judged_by_the_task() -> None:
    tool = read(auth={**CLIENT, "token_url": "https://login.other.test/t"})
    assert [problem.field for problem in check.find_host_problems(tool, where="t", domains=[])] == ["t.url", "t.auth.token_url"]
    assert [problem.field for problem in check.find_host_problems(tool, where="t", domains=[HOST])] == ["t.auth.token_url"]
    assert check.find_host_problems(tool, where="t", domains=["*.weather.test", "login.other.test"]) == []
    assert check.find_problems(tool, where="t") == []


def test_no_tool_takes_the_name_of_a_built_in_one() -> None:
    assert set(TOOLS) <= check.BUILT_IN
    assert "send_push_notification" in check.BUILT_IN
    for name in check.BUILT_IN - {name for name in TOOLS if has_prefix(name)}:
        assert fault(name=name) == "tools.0.name is the name of a built-in tool"


@pytest.mark.parametrize("name", [PREFIX, f"{PREFIX}look_up", f"{PREFIX}http_get", "Orchestrator__x", f"{PREFIX}{PREFIX}x"])
def test_no_tool_has_the_prefix_of_the_platforms_own(name: str) -> None:
    expected = "tools.0.name begins with orchestrator__, the prefix of the platform's own tools: give it another name"
    assert fault(name=name) == expected


@pytest.mark.parametrize("name", [f"x{PREFIX}", "books__search", "a__", "__a", "a___b"])
def test_two_underscores_are_left_to_tools_of_mcp_servers(name: str) -> None:
    expected = "tools.0.name has '__', which only names of tools of MCP servers have: give it another name"
    assert fault(name=name) == expected


WORDS = st.sampled_from(
    (
        *(
            "http",
            "a",
            "weather",
            URL,
            URL + "/{a}",
            URL + "{?a&b}",
            URL + "?x={a?}",
            "{{a}}",
            "{{a.b}}",
            "{{secrets.KEY}}",
            "{{",
        ),
        *(
            "POST",
            "GET",
            "form",
            "query",
            "json",
            "{{#if a}}x{{/if}}",
            "string",
            "X-A",
            "token_exchange",
            "$.token",
            "",
            "comma",
            "{{date}}",
        ),
    )
)
KEYS = st.sampled_from(
    (
        "a",
        "b",
        "type",
        "required",
        "style",
        "default",
        "url",
        "X-A",
        "request",
        "extract",
        "token_path",
        "body",
        "items",
        "enum",
        "Host",
    )
)
VALUES = st.recursive(
    WORDS | st.integers(-1, 500) | st.booleans() | st.none() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)
ENTRIES = st.fixed_dictionaries(
    {"kind": st.just("http"), "name": st.just("a"), "url": WORDS.filter(lambda word: word.startswith("https")) | VALUES},
    optional={
        "method": st.sampled_from(("GET", "POST")) | VALUES,
        **dict.fromkeys(("params", "query", "headers", "parameters"), st.dictionaries(KEYS, VALUES, max_size=2) | VALUES),
        **dict.fromkeys(("body", "body_type", "auth", "ok_statuses", "public_env", "description", "enabled", "zzz"), VALUES),
    },
)


@settings(max_examples=60)
@given(ENTRIES | VALUES)
def test_any_entry_is_refused_as_invalid_or_has_a_schema_that_holds(value: Any) -> None:
    try:
        tool = entry.read(value, where="tools.0")
    except InvalidInputError:
        return
    Draft202012Validator.check_schema(tool.schema)
    assert check.find_problems(tool, where="tools.0") == []
