"""Requests: which may be repeated, which have a body, and where credentials are injected."""

from __future__ import annotations

import pytest

from ferryman.domain.http.request import Method, OutboundRequest, SecretPlaceholder, Template, list_placeholder_names


def build_template(*names: str) -> Template:
    return Template(("Bearer ", *(SecretPlaceholder(name) for name in names), "!"))


def test_get_and_head_have_no_body():
    assert {method for method in Method if not method.has_body} == {Method.GET, Method.HEAD}


def test_get_and_head_have_no_further_effect():
    assert {method for method in Method if method.safe} == {Method.GET, Method.HEAD}


@pytest.mark.parametrize(
    ("method", "idempotency", "repeatable"),
    [
        *((Method.GET, None, True), (Method.HEAD, None, True), (Method.POST, None, False), (Method.DELETE, None, False)),
        (Method.POST, ("Idempotency-Key", "k"), True),
    ],
)
def test_a_request_may_be_repeated_that_is_safe_or_that_its_host_recognises(method, idempotency, repeatable):
    request = OutboundRequest(tool="t", method=method, url="https://a.test/", idempotency=idempotency)
    assert request.repeatable is repeatable


def test_a_template_is_written_with_its_placeholders():
    assert str(build_template("A", "B")) == "Bearer {{secrets.A}}{{secrets.B}}!"


def test_the_credentials_of_a_value_are_named_once_each_in_order():
    value = {"x": [build_template("B", "A"), "text", 1], "y": build_template("A", "C"), "{{secrets.D}}": None}
    assert list_placeholder_names(value) == ["B", "A", "C"]


@pytest.mark.parametrize("value", [None, "{{secrets.A}}", [], {"a": build_template()}])
def test_a_value_without_placeholders_names_none(value):
    assert list_placeholder_names(value) == []
