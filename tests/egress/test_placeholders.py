"""Placeholders: displayed by the name of their credential, and filled with its value in every place."""

from __future__ import annotations

from ferryman.domain.http.request import SecretPlaceholder, Template
from ferryman.egress import inject
from tests.egress.plants import VALUES, credential, outbound

KEYS = {"A": credential(VALUES["short"], "A"), "B": credential(VALUES["github"], "B")}
SINGLE, BOTH = Template(("x ", SecretPlaceholder("A"))), Template((SecretPlaceholder("B"), "-", SecretPlaceholder("A")))


def test_placeholders_are_listed_once_in_order() -> None:
    request = outbound(fixed_headers={"h": BOTH}, query_params={"q": SINGLE}, body={"b": [SINGLE]})
    assert inject.list_request_placeholders(request) == ["B", "A"]
    assert inject.list_request_placeholders(outbound(query_params={"q": SINGLE})) == ["A"]
    assert inject.list_request_placeholders(outbound(body={"b": [SINGLE, BOTH]})) == ["A", "B"]
    assert inject.list_request_placeholders(outbound()) == []


def test_every_placeholder_is_filled_and_other_values_stay() -> None:
    value = {"a": [SINGLE, 1, None, "t"], "b": {"c": BOTH}}
    first, second = VALUES["short"], VALUES["github"]
    assert inject.fill(value, KEYS) == {"a": [f"x {first}", 1, None, "t"], "b": {"c": f"{second}-{first}"}}
    assert inject.fill_text("t", KEYS) == "t"
    assert inject.to_display_form(value) == {
        "a": ["x {{secrets.A}}", 1, None, "t"],
        "b": {"c": "{{secrets.B}}-{{secrets.A}}"},
    }
