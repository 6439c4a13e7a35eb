"""What is told of a header that may not be set, by the model or by a declared tool, and where the limits are."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.http.request import SecretPlaceholder, Template
from ferryman.egress.headers import (
    ALLOWED,
    CHARACTERS_MAX,
    COUNT_MAX,
    check_headers,
    list_injected_headers,
    reject_fixed_header_conflicts,
)
from tests.egress.plants import VALUES, credential

KEYS = [credential(VALUES["prefixed"], kind=AuthType.HEADER, auth_header_name="X-Key")]
TOKEN = "a header name must be an HTTP token of at most 64 characters"
VALUE = "a header value must be text in printable ASCII, without line breaks or outer spaces"
COUNT = f"at most {COUNT_MAX} headers"
CHARACTERS = f"headers may have at most {CHARACTERS_MAX} characters in all"
TWICE = "a header may be given once, in one spelling"
FIXED = "a declared header must be an HTTP token of at most 64 characters that does not frame the request"
MANY = tuple(f"x-{number}" for number in range(COUNT_MAX + 1))


@pytest.mark.parametrize(
    ("headers", "rule"),
    [
        (dict.fromkeys(MANY, "a"), COUNT),
        ({"a b": "c"}, TOKEN),
        ({"x" * 65: "c"}, TOKEN),
        ({"accept": " a"}, VALUE),
        ({"accept": 1}, VALUE),
        ({"X_Key": "a"}, "a credential's own header is set by the executor only"),
        ({"x-tenant": "a"}, f"allowed for this host are {', '.join(sorted((*ALLOWED, *MANY)))}"),
        ({"content-type": "text/plain"}, "content-type may only be application/json"),
        ({"accept": "a", "Accept": "b"}, TWICE),
        ({"x-1": "a" * (CHARACTERS_MAX - 2)}, CHARACTERS),
    ],
)
def test_a_header_of_the_model_is_refused_by_its_rule(headers: Mapping[str, object], rule: str) -> None:
    with pytest.raises(CallRefusedError) as refused:
        check_headers(headers, KEYS, MANY)
    assert refused.value.refusal == refusal.refuse_header(rule)


def test_headers_of_the_model_may_have_as_many_characters_as_the_limit() -> None:
    value = "a" * (CHARACTERS_MAX - 6)
    assert check_headers({"x-1": "b", "x-2": value[:-1]}, KEYS, MANY) == (("x-1", "b"), ("x-2", value[:-1]))


def test_the_value_of_content_type_may_name_its_charset() -> None:
    for value in ("application/json", "Application/JSON;charset=utf-8", 'application/json; charset="UTF-8"'):
        assert check_headers({"content-type": value}, ()) == (("content-type", value),)


SECRET = Template(("key ", SecretPlaceholder("A")))


@pytest.mark.parametrize(
    ("headers", "rule"),
    [
        (dict.fromkeys(MANY, "a"), COUNT),
        ({"X-One": "a", "x_one": "b"}, TWICE),
        ({"a b": "c"}, FIXED),
        ({"x" * 65: "c"}, FIXED),
        ({"Content-Length": "1"}, FIXED),
        ({"Host": "a"}, FIXED),
        ({"x-1": "a\r\nb: c"}, VALUE),
        ({"x-1": Template(("a\n", SecretPlaceholder("A")))}, VALUE),
        ({"x-1": "a" * (CHARACTERS_MAX - 2)}, CHARACTERS),
    ],
)
def test_a_header_of_a_declared_tool_is_refused_by_its_rule(headers: Mapping[str, str], rule: str) -> None:
    with pytest.raises(CallRefusedError) as refused:
        reject_fixed_header_conflicts(headers)
    assert refused.value.refusal == refusal.refuse_header(rule)


def test_a_declared_tool_may_set_headers_that_a_model_may_not() -> None:
    reject_fixed_header_conflicts({"X-Tenant": "a", "Authorization": SECRET, "x" * 64: "b"})
    reject_fixed_header_conflicts(dict.fromkeys(MANY[1:], "a"))
    reject_fixed_header_conflicts({"x-1": "a" * (CHARACTERS_MAX - 3)})


def test_the_headers_of_credentials_are_those_of_their_labels() -> None:
    bearer = credential(VALUES["github"])
    assert list(list_injected_headers([*KEYS, bearer])) == ["X-Key"]
