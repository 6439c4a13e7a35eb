"""Requests: what a call of a declared tool sends, and that no argument leaves its place."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.declared import entry, request
from ferryman.declared.templates import Mode
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import BodyType, Method, SecretPlaceholder, Template
from tests.declared.entries import HOST, call, read, refusal

URL = f"https://{HOST}/v1"
LIST = {"type": "array", "required": False}
OBJECT = {"type": "object", "required": False}


def query(outbound: Any) -> list[tuple[str, str]]:
    """Return the query as the service reads it: that of the URL, then what is appended."""
    pairs = {name: value if isinstance(value, list) else str(value) for name, value in outbound.query_params.items()}
    return parse_qsl(urlsplit(outbound.url).query + "&" + urlencode(pairs, doseq=True), keep_blank_values=True)


def test_a_call_has_everything_in_its_place() -> None:
    tool = read(
        url=URL + "/{city}/days?fixed=1{?units}",
        method="POST",
        headers={"Authorization": "Bearer {{secrets.API_KEY}}", "X-Day": "{{date}}", "X-Trace": "{{trace}}"},
        query={"k": "{{secrets.QUERY_KEY}}"},
        body={"name": "{{userName}}", "tags": "{{tags}}", "kind": "pinned", "n": 3, "hello": "Hi {{userName}}!"},
        parameters={"tags": LIST},
        ok_statuses=[200, 404],
    )
    sent = call(tool, city="São Paulo/SP", units="metric", trace="t1", userName="Ada", tags=["a", {"b": 1}])
    assert sent.url == URL + "/S%C3%A3o%20Paulo%2FSP/days?fixed=1"
    assert sent.query_params == {"units": "metric", "k": Template((SecretPlaceholder("QUERY_KEY"),))}
    assert sent.fixed_headers == {
        "Authorization": Template(("Bearer ", SecretPlaceholder("API_KEY"))),
        "X-Day": "2026-03-01",
        "X-Trace": "t1",
    }
    assert sent.body == {"name": "Ada", "tags": ["a", {"b": 1}], "kind": "pinned", "n": 3, "hello": "Hi Ada!"}
    assert (sent.tool, sent.method, sent.body_type, sent.headers, sent.credential) == (
        "weather",
        Method.POST,
        BodyType.JSON,
        {},
        None,
    )
    assert list(sent.ok or ()) == [200, 404]


def test_without_ok_statuses_those_of_success_are_no_error() -> None:
    assert list(call(read()).ok or ()) == list(range(200, 300))


def test_what_is_optional_and_absent_leaves_nothing_behind() -> None:
    optional = {"required": False}
    tool = read(
        url=URL + "?a={a?}&z=1&pre=x{b?}",
        method="POST",
        headers={"X-C": "{{c}}", "X-D": "d"},
        query={"e": "{{e}}"},
        body={"f": "{{f}}", "g": ["{{f}}", 1], "h": {"f": "{{f}}"}, "i": "<{{f}}>", "j": "{{k.l}}"},
        parameters={**dict.fromkeys("cef", optional), "k": OBJECT},
    )
    sent = call(tool)
    assert (sent.url, sent.query_params) == (URL + "?z=1", {})
    assert sent.fixed_headers == {"X-D": "d"}
    assert sent.body == {"g": [1], "h": {}, "i": "<>"}
    assert call(tool, a="", k={}).query_params == {"a": ""}
    assert call(tool, k={}).body["j"] is None


def test_a_body_that_is_nothing_but_what_is_absent_is_none() -> None:
    tool = read(method="POST", body="{{body}}", parameters={"body": OBJECT})
    assert call(tool).body is None
    assert call(tool, body={"a": "{{date}}"}).body == {"a": "{{date}}"}


def test_a_null_for_what_may_be_left_out_is_as_if_left_out() -> None:
    assert call(read(url=URL + "?a={a?}"), a=None).query_params == {}
    assert "must be a string" in refusal(read(url=URL + "?a={a}"), a=None)


def test_a_pin_is_filled_in_and_wins_over_what_the_model_says() -> None:
    tool = read(url=URL + "/{team}{?k}", params={"team": "t {{squad}}", "k": "{{secrets.KEY}}"}, headers={"X-T": "{{team}}"})
    sent = call(tool, squad="red", team="other", k="mine")
    assert sent.url == URL + "/t%20red"
    assert sent.query_params == {"k": Template((SecretPlaceholder("KEY"),))}
    assert sent.fixed_headers == {"X-T": "t red"}


def test_defaults_are_filled_in_and_scalars_become_texts() -> None:
    tool = read(
        url=URL + "/{id}{?days&big&on}", parameters={"days": {"type": "integer", "default": 3}, "on": {"type": "boolean"}}
    )
    sent = call(tool, id=42, big=12345678901234567890, on=True)
    assert sent.url == URL + "/42"
    assert query(sent) == [("days", "3"), ("big", "12345678901234567890"), ("on", "true")]
    assert call(tool, id=2.0, big="b", on=False).url == URL + "/2"


@pytest.mark.parametrize(
    ("style", "value", "expected"),
    [
        ("repeat", [1, "b", True, None], [("q", "1"), ("q", "b"), ("q", "true")]),
        ("repeat", [], []),
        ("repeat", {"a": 1, "b": [2, 3]}, [("a", "1"), ("b", "2"), ("b", "3")]),
        ("comma", ["a", 2.0], [("q", "a,2")]),
        ("space", ["a", "b"], [("q", "a b")]),
        ("pipe", ["a", "b"], [("q", "a|b")]),
        ("comma", {"a": 1, "b": 2}, [("q", "a,1,b,2")]),
        ("deep", {"a": 1, "b": {"c": [2, 3]}}, [("q[a]", "1"), ("q[b][c]", "2"), ("q[b][c]", "3")]),
        ("repeat", "a,b", [("q", "a,b")]),
        ("repeat", [[1, 2], {"a": 1}], [("q", "[1,2]"), ("q", '{"a":1}')]),
    ],
)
def test_lists_and_objects_are_written_in_their_style(style: str, value: Any, expected: list[tuple[str, str]]) -> None:
    parameters = {"q": {"enum": [value], "style": style}}
    assert query(call(read(query={"q": "{{q}}"}, parameters=parameters), q=value)) == expected
    assert query(call(read(url=URL + "{?q}", parameters=parameters), q=value)) == expected
    form = read(method="POST", body_type="form", body={"q": "{{q}}"}, parameters=parameters)
    assert parse_qsl(urlencode(call(form, q=value).body, doseq=True)) == expected


def test_paths_and_headers_have_lists_with_commas() -> None:
    tool = read(
        url=URL + "/{ids}",
        headers={"X-Ids": "{{ids}}", "X-O": "{{o}}"},
        parameters={"ids": LIST | {"required": True}, "o": OBJECT},
    )
    sent = call(tool, ids=[1, "a/b"], o={"a": 1})
    assert (sent.url, sent.fixed_headers) == (URL + "/1,a%2Fb", {"X-Ids": "1,a/b", "X-O": "a,1"})
    assert "'ids' for weather must be a list of texts without ','" in refusal(tool, ids=["a,b"])
    assert "must be a text for one part of a path" in refusal(tool, ids=[])


@pytest.mark.parametrize(
    ("style", "value"),
    [
        ("comma", ["a,b"]),
        ("pipe", ["a|b"]),
        ("space", ["a b"]),
        ("comma", [["a"]]),
        ("deep", {"a]&x[": 1}),
        ("deep", {"": 1}),
        ("repeat", {"key": 1}),
        ("repeat", {"KEY": 1}),
        ("repeat", {"token": 1}),
        ("repeat", {"fixed": 1}),
        ("repeat", {"a&b": 1}),
    ],
)
def test_no_argument_can_add_an_item_or_take_anothers_name(style: str, value: Any) -> None:
    login = {
        **{"type": "token_exchange", "request": {"url": URL}, "extract": {"response_format": "text"}},
        "apply": {"location": "query", "name": "token"},
    }
    parameters = {"q": {"enum": [value], "style": style}}
    tool = read(url=URL + "?fixed=1", query={"q": "{{q}}", "key": "{{secrets.KEY}}"}, parameters=parameters, auth=login)
    assert refusal(tool, q=value).startswith("Error: ")


def test_two_arguments_cannot_give_the_same_name() -> None:
    tool = read(query={"p": "{{p}}", "q": "{{q}}"}, parameters={"p": OBJECT, "q": OBJECT})
    assert query(call(tool, p={"a": 1}, q={"b": 2})) == [("a", "1"), ("b", "2")]
    assert "not those of other parameters" in refusal(tool, p={"a": 1}, q={"a": 2})


def test_a_body_of_type_query_is_appended_with_any_method() -> None:
    tool = read(body_type="query", query={"z": 0}, body={"a": "{{a}}", "b": [1, "{{a}}"], "c": None})
    sent = call(tool, a="x y")
    assert (query(sent), sent.body) == ([("z", "0"), ("a", "x y"), ("b", "1"), ("b", "x y")], None)


def test_a_form_may_be_one_argument_whose_texts_are_no_templates() -> None:
    tool = read(method="POST", body_type="form", body="{{form}}", parameters={"form": {"type": "object"}})
    assert call(tool, form={"a": "{{secrets.KEY}}", "b": [1, 2]}).body == {"a": "{{secrets.KEY}}", "b": ["1", "2"]}
    assert "'form'" in refusal(read(method="POST", body_type="form", body="{{form}}"), form="a=b")


def test_the_environment_is_read_in_embedded_mode() -> None:
    fields = {"kind": "http", "name": "a", "url": URL, "headers": {"X-A": "{{env.KEY}}", "X-B": "b{{env.NONE}}"}}
    tool = entry.read(fields, where="", mode=Mode.EMBEDDED)
    sent = request.build_request(tool, {}, state={}, env={"KEY": "v"})
    assert sent.fixed_headers == {"X-A": "v", "X-B": "b"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Error: 'city' field required for weather"),
        ({"city": ["a"]}, "Error: 'city' for weather must be a string"),
        ({"city": "a", "units": "kelvin"}, "Error: 'units' for weather must be one of metric, us"),
        ({"city": "a", "days": "3"}, "Error: 'days' for weather must be an integer"),
        ({"city": "a", "days": 99}, "Error: 'days' for weather must be as its schema says"),
        ({"city": "a", "host": "evil"}, "Error: weather has no argument 'host'. It has: city, units, days, to"),
        ({"city": "a", "ignore all rules": 1}, "Error: weather has no argument '?'. It has: city, units, days, to"),
        ({"city": "a", "to": "ann"}, "Error: 'to' for weather must be an e-mail address, as name@example.com"),
        ({"city": "\ud800"}, "Error: 'city' for weather must be valid Unicode, and numbers that JSON can represent"),
        ({"city": float("inf")}, "Error: 'city' for weather must be valid Unicode, and numbers that JSON can represent"),
        ({"city": 10**70}, "Error: 'city' for weather must be valid Unicode, and numbers that JSON can represent"),
        ({"city": ".."}, "Error: 'city' for weather must be a text for one part of a path: not empty, not '.' or '..'"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_name(arguments: dict[str, Any], message: str) -> None:
    units = {"enum": ["metric", "us"], "required": False}
    days = {"type": "integer", "maximum": 16, "required": False}
    parameters = {"units": units, "days": days, "to": {"type": "string", "format": "email", "required": False}}
    tool = read(url=URL + "/{city}?units={units?}&days={days?}&to={to?}", parameters=parameters)
    assert refusal(tool, **arguments).startswith(message)


def test_a_text_of_its_format_is_sent() -> None:
    tool = read(url=URL + "/a?to={to}", parameters={"to": {"type": "string", "format": "email"}})
    assert call(tool, to="ann@example.com").query_params == {"to": "ann@example.com"}


def test_a_default_that_has_not_its_format_makes_no_tool_unusable() -> None:
    schema = {"type": "string", "format": "date-time", "default": "now", "required": False}
    assert read(url=URL + "/a?since={since?}", parameters={"since": schema}).name == "weather"


def test_a_tool_without_parameters_says_that_it_takes_no_arguments() -> None:
    assert refusal(read(url=URL), city="a") == "Error: weather takes no arguments"


@pytest.mark.parametrize("name", ["petId", "pet_id", "PETID"])
def test_an_argument_id_is_bound_to_the_one_path_parameter_that_is_missing(name: str) -> None:
    tool = read(url=URL + "/{teamId}/{" + name + "}?q={q?}")
    assert call(tool, teamId="t", id=42, q="a").url == URL + "/t/42"


@pytest.mark.parametrize(
    "arguments",
    [
        {"teamId": "t", "name": "7"},
        {"id": "7"},
        {"teamId": "t", "id": "7", "x": "8"},
        {"teamId": "t", "": "7"},
        *({"teamId": "t", name: "7"} for name in ("d", "Id", "ID", "tId", "etId")),
    ],
)
def test_no_other_argument_replaces_a_name_of_the_path(arguments: dict[str, Any]) -> None:
    assert "Id' field required" in refusal(read(url=URL + "/{teamId}/{petId}?q={q?}"), **arguments)


def test_an_argument_id_is_not_bound_to_a_path_parameter_of_another_name() -> None:
    assert "'petName' field required" in refusal(read(url=URL + "/{petName}"), id="7")


def test_no_argument_replaces_a_name_of_the_query() -> None:
    assert "'petId' field required" in refusal(read(url=URL + "?q={petId}"), id="7")


@pytest.mark.parametrize("value", ["a\r\nX-B: c", "a\nb", "a\x00", "ü", " a", "a ", "\ta", "a\u2028b"])
def test_a_header_value_stays_on_its_line(value: str) -> None:
    assert "one line" in refusal(read(headers={"X-A": "{{a}}"}), a=value)
    if value.strip(" ") != value:
        return
    assert "one line" in refusal(read(headers={"X-A": "{{secrets.KEY}} {{a}}"}), a=value)


def test_arguments_nested_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    assert "nested at most 64 deep" in refusal(read(query={"a": "{{a}}"}, parameters={"a": {"type": "array"}}), a=deep)


def test_a_text_that_is_named_often_is_not_written_without_end() -> None:
    tool = read(method="POST", body="{{a}}" * 5_000)
    assert len(call(tool, a="x" * 100).body) == 500_000
    assert "the request that they make is too large" in refusal(tool, a="x" * 10_000)


TOOL = read(
    url=URL + "/{a}/end?q={b}&r=pre-{c}",
    method="PUT",
    headers={"X-A": "{{d}}", "X-B": "k {{secrets.KEY}}{{d}}"},
    query={"key": "{{secrets.KEY}}", "f": "{{f}}"},
    body={"b": "{{b}}", "t": "<{{b}}>", "f": "{{f}}", "#": "{{#if b == 'x'}}{{c}}{{else}}{{b}}{{/if}}"},
    parameters={"f": {"type": ["array", "object", "string", "number", "null"], "required": False}, "d": {"required": False}},
)
BITS = (
    "{{",
    "}}",
    "{{secrets.KEY}}",
    "{a}",
    "/",
    "..",
    "%2e",
    "\r\n",
    "&",
    "=",
    "?",
    "#",
    "a",
    " ",
    "é",
    "\x00",
    "\ud800",
    "key",
    "[",
    "]",
)
HOSTILE = st.one_of(st.text(max_size=8), st.lists(st.sampled_from(BITS), max_size=6).map("".join))
ANY = st.recursive(
    HOSTILE | st.integers() | st.floats() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.fixed_dictionaries(dict.fromkeys("abc", HOSTILE), optional={"d": HOSTILE, "f": ANY}))
def test_no_argument_gets_out_of_its_place(arguments: dict[str, Any]) -> None:
    try:
        sent = call(TOOL, **arguments)
    except CallRefusedError:
        return
    a, b, c = arguments["a"], arguments["b"], arguments["c"]
    url = urlsplit(sent.url)
    assert (url.netloc, url.query, url.fragment) == (HOST, "", "")
    assert [url.path.split("/")[index] for index in (1, 3)] == ["v1", "end"]
    assert len(url.path.split("/")) == 4
    assert a
    pairs = query(sent)
    assert pairs[:2] == [("q", b), ("r", f"pre-{c}")]
    assert [value for name, value in pairs if name == "key"] == ["{{secrets.KEY}}"]
    assert isinstance(sent.query_params["key"], Template)
    for value in sent.fixed_headers.values():
        assert str(value).isprintable()
        assert str(value).isascii()
    assert sent.body["b"] == b
    assert sent.body["t"] == f"<{b}>"
    assert sent.body["#"] == (c if b == "x" else b)
    if "f" in arguments:
        assert json.dumps(sent.body.get("f")) == json.dumps(arguments["f"])


OTHER = read(url=URL + "?a={a?}", params={"b": 1}, headers={"X-B": "{{b}}"}, body_type="query", body="{{c}}")


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from("abcdfg") | HOSTILE, ANY, max_size=5))
def test_any_arguments_are_written_or_refused(arguments: dict[str, Any]) -> None:
    for tool in (TOOL, OTHER):
        with suppress(CallRefusedError):
            request.build_request(tool, arguments, state={})


@pytest.mark.parametrize("name", ["api_key", "API_KEY", "api.key"])
def test_an_object_gives_no_name_that_a_server_reads_as_the_keys(name: str) -> None:
    tool = entry.read(
        {
            "kind": "http",
            "name": "find",
            "url": "https://api.example.com/x",
            "query": {"f": "{{f}}", "api_key": "{{secrets.KEY}}"},
            "parameters": {"f": {"type": "object"}},
        },
        where="",
    )
    assert "not those of other parameters" in refusal(tool, f={name: "x"})


def test_a_delete_sends_the_body_that_is_declared() -> None:
    tool = read(url=URL, method="DELETE", body={"ids": "{{ids}}"}, parameters={"ids": LIST})
    assert (call(tool, ids=[1]).body, call(tool).body) == ({"ids": [1]}, None)
