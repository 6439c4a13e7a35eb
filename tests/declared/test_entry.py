"""Entries: what is derived from one, and what has its default."""

from __future__ import annotations

import pytest

from ferryman.declared import check
from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.tools.declared import Apply, ClientCredentials, Exchange, Extract, Style, TokenExchange
from tests.declared.entries import CLIENT, HOST, URL, read

STRING = {"type": "string"}


def test_an_entry_says_little_and_the_rest_has_its_default() -> None:
    tool = read(description="Weather now.\nAnd more.")
    assert (tool.method, tool.body_type, tool.body, tool.auth, tool.enabled) == (Method.GET, BodyType.JSON, None, None, True)
    assert (tool.parameters, tool.ok_statuses, tool.summary) == ({}, (), "Weather now.")
    assert tool.schema == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "patch"])
def test_each_method_may_be_declared(method: str) -> None:
    assert read(method=method).method == method.upper()


def test_each_placeholder_is_a_parameter_and_a_text() -> None:
    tool = read(url=URL + "/{city}?lang={lang?}{?units&format}")
    assert tool.schema["properties"] == {"city": STRING, "lang": STRING, "units": STRING, "format": STRING}
    assert tool.schema["required"] == ["city", "units", "format"]


def test_a_name_that_occurs_twice_is_one_parameter_and_required_where_one_is() -> None:
    tool = read(url=URL + "/{id}?a={id?}&b={x?}&c={x}", headers={"X-Id": "{{id}}"})
    assert tool.schema["properties"] == {"id": STRING, "x": STRING}
    assert tool.schema["required"] == ["id", "x"]


def test_what_a_template_names_is_a_parameter_but_for_what_has_a_value() -> None:
    tool = read(
        method="POST",
        headers={"X-Day": "{{date}}", "Authorization": "Bearer {{secrets.API_KEY}}", "X-Item": "{{user.id}}"},
        params={"team": "t-{{squad}}"},
        query={"team": "{{team}}"},
        body={"userName": "{{userName}}", "kind": "literal", "note": "{{#if urgent}}!{{/if}}", "at": "{{execution_id}}"},
    )
    assert tool.schema["properties"] == {
        **{"user": {"type": "object"}, "userName": STRING, "urgent": STRING, "squad": STRING},
    }
    assert check.find_credentials(tool) == {"API_KEY"}


def test_a_placeholder_called_as_a_variable_is_still_the_models_to_say() -> None:
    assert read(url=URL + "/{date}", headers={"X-Day": "{{date}}"}).schema["required"] == ["date"]
    assert read(query={"d": "{{date}}"}, parameters={"date": STRING}).schema["required"] == ["date"]


def test_a_pinned_parameter_disappears() -> None:
    assert read(url=URL + "/{city}{?units}", params={"units": "metric"}).schema["required"] == ["city"]


def test_a_parameter_may_have_a_type_a_default_and_a_style() -> None:
    tool = read(
        url=URL + "{?ids&days&units}",
        parameters={
            "ids": {"type": "array", "items": {"type": "integer"}, "style": "pipe", "required": False},
            "days": {"type": "integer", "default": 3},
            "units": {"description": "of measure"},
        },
    )
    assert tool.parameters["ids"].style is Style.PIPE
    assert tool.schema["required"] == ["units"]
    assert tool.schema["properties"]["units"] == {"type": "string", "description": "of measure"}
    assert tool.schema["properties"]["ids"] == {"type": "array", "items": {"type": "integer"}}


def test_a_list_under_required_is_json_schemas_own() -> None:
    schema = {"type": "object", "required": ["a"]}
    assert read(query={"o": "{{o}}"}, parameters={"o": schema}).schema["properties"]["o"] == schema


def test_both_ways_to_a_token_are_read() -> None:
    tool = read(
        auth={**CLIENT, "client_secret": "{{secrets.CLIENT_SECRET}}", "scope": "a b", "cache_ttl": 60, "refresh_on": [401, 403]}
    )
    assert tool.auth == ClientCredentials(
        token_url=f"https://{HOST}/token",
        client_id="id",
        client_secret="{{secrets.CLIENT_SECRET}}",
        scope="a b",
        cache_ttl=60,
        refresh_on=(401, 403),
    )
    assert check.find_login_credentials(tool) == {"CLIENT_SECRET"}
    assert check.find_credentials(tool) == frozenset()
    tool = read(
        auth={
            "type": "token_exchange",
            "request": {
                "url": f"https://{HOST}/in",
                "body_type": "form",
                "body": {"pw": "{{secrets.PASSWORD}}"},
                "headers": {"X-A": "1"},
            },
            "extract": {"response_format": "text"},
            "apply": {"location": "query", "name": "sid", "format": "s-{token}"},
        }
    )
    assert tool.auth == TokenExchange(
        request=Exchange(
            url=f"https://{HOST}/in", headers={"X-A": "1"}, body_type=BodyType.FORM, body={"pw": "{{secrets.PASSWORD}}"}
        ),
        extract=Extract(response_format="text"),
        apply=Apply(location="query", name="sid", format="s-{token}"),
    )
    assert check.find_login_credentials(tool) == {"PASSWORD"}


def test_one_that_is_switched_off_says_so() -> None:
    tool = read(enabled=False)
    assert (tool.enabled, tool.reason) == (False, "switched off in its declaration")
