"""Questions of MCP servers: the forms that a person may be asked, and the answers that fit them."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.approvals.answers import find_answer_problems, parse_value
from ferryman.domain.approvals.question import QUESTIONS_MAX, check_questions
from ferryman.domain.approvals.question_fields import FIELDS_MAX, UnaskableQuestionError, list_fields
from ferryman.domain.calls.continuation import ServerQuestion

FIELDS: dict[str, Any] = {
    "name": {"type": "string", "minLength": 2, "maxLength": 10},
    "mail": {"type": "string", "format": "email"},
    "page": {"type": "string", "format": "uri"},
    "day": {"type": "string", "format": "date"},
    "at": {"type": "string", "format": "date-time"},
    "color": {"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]},
    "size": {"type": "string", "enum": ["s", "m"]},
    "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2},
    "age": {"type": "integer", "minimum": 18, "maximum": 99},
    "weight": {"type": "number", "minimum": 0.5},
    "sure": {"type": "boolean"},
}


def ask(*required: str, **fields: Any) -> ServerQuestion:
    schema = {"type": "object", "properties": fields or FIELDS, "required": list(required)}
    return ServerQuestion(key="k", mode="form", message="Who are you?", schema=schema)


def find(question: ServerQuestion, **content: Any) -> list[str]:
    return [problem.message for problem in find_answer_problems([question], {"k": content})]


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"name": "Ann", "mail": "ann@a.example", "page": "https://a.example/x", "day": "2026-11-29"},
        {"at": "2026-11-29T12:00:00Z", "color": "#0f0", "size": "m", "many": ["a", "c"], "sure": False},
        {"age": 18, "weight": 0.5},
        {"age": 20.0},
    ],
)
def test_an_answer_that_fits_has_no_problem(content: dict[str, Any]) -> None:
    assert find(ask(), **content) == []


@pytest.mark.parametrize(
    "content",
    [
        {"name": "A"},
        {"name": "A" * 11},
        {"name": 1},
        {"name": None},
        {"name": "a\ud800b"},
        {"mail": "nobody"},
        {"page": "nowhere"},
        {"day": "tomorrow"},
        {"at": "noon"},
        {"color": "Red"},
        {"size": "xl"},
        {"many": []},
        {"many": ["a", "b", "c"]},
        {"many": ["a", "a"]},
        {"many": ["d"]},
        {"many": "a"},
        {"age": 17},
        {"age": 100},
        {"age": 18.5},
        {"age": True},
        {"age": float("nan")},
        {"weight": 0},
        {"weight": 10**400},
        {"sure": "yes"},
        {"other": 1},
        {"name": {"deep": []}},
    ],
)
def test_an_answer_that_does_not_fit_is_refused(content: dict[str, Any]) -> None:
    assert find(ask(), **content)


def test_what_is_required_has_to_be_there() -> None:
    assert find(ask("name"), mail="ann@a.example") == ["'name': is required"]


@pytest.mark.parametrize("key", ["ghp_" + "a1" * 20, "-----BEGIN PRIVATE KEY-----", "sk-" + "Ab3" * 10])
def test_an_answer_in_the_form_of_a_key_is_refused(key: str) -> None:
    assert "hold what looks like a key or a token: no answer to a server may" in find(ask(text={"type": "string"}), text=key)


@pytest.mark.parametrize(
    "field",
    [
        {"password": {"type": "string"}},
        {"pass_word": {"type": "string"}},
        {"apiKey": {"type": "string"}},
        {"API-KEY": {"type": "string"}},
        {"x": {"type": "string", "title": "Your access token"}},
        {"x": {"type": "string", "description": "paste the client secret here"}},
        {"x": {"type": "string", "format": "password"}},
        {"x": {"type": "string", "title": "ｐａｓｓｗｏｒｄ"}},
        {"x": {"type": "string", "title": "pass\u200bword"}},
        {"seed phrase": {"type": "string"}},
        {"card_number": {"type": "string"}},
        {"pin": {"type": "integer"}},
        {"token": {"type": "string"}},
    ],
)
def test_a_form_with_a_field_for_a_secret_is_not_asked(field: dict[str, Any]) -> None:
    with pytest.raises(UnaskableQuestionError, match="secret"):
        check_questions([ask(**field)])


def test_a_form_whose_text_asks_for_a_secret_is_not_asked() -> None:
    question = ServerQuestion(key="k", mode="form", message="Type your API key below", schema=ask().schema)
    with pytest.raises(UnaskableQuestionError, match="secret"):
        check_questions([question])


@pytest.mark.parametrize("name", ["shipping", "opinion", "keyboard", "tokens_per_minute", "spin", "company"])
def test_a_field_that_only_sounds_alike_is_asked(name: str) -> None:
    assert [field.name for field in list_fields(ask(**{name: {"type": "string"}}).schema)] == [name]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"type": "object"},
        {"type": "array", "properties": {}},
        {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": {"type": "string", "minLength": "2"}}},
        {"type": "object", "properties": {"a": {"type": "string", "title": "x" * 501}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["x"] * 101}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": [1]}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
        {"type": "object", "properties": {f"f{number}": {"type": "string"} for number in range(FIELDS_MAX + 1)}},
    ],
)
def test_a_form_that_is_not_flat_or_too_large_is_not_asked(schema: Any) -> None:
    with pytest.raises(UnaskableQuestionError):
        check_questions([ServerQuestion(key="k", mode="form", message="m", schema=schema)])


@pytest.mark.parametrize(
    "url", [None, "", "http://a.example/", "javascript:alert(1)", "https://127.0.0.1/", "https://a@b.example/"]
)
def test_a_page_without_a_plain_https_url_is_not_asked(url: str | None) -> None:
    with pytest.raises(UnaskableQuestionError):
        check_questions([ServerQuestion(key="k", mode="url", message="m", url=url)])


def test_more_questions_than_a_person_reads_at_once_are_not_asked() -> None:
    with pytest.raises(UnaskableQuestionError):
        check_questions([ask()] * (QUESTIONS_MAX + 1))


def test_consent_to_a_page_has_no_content() -> None:
    page = ServerQuestion(key="k", mode="url", message="m", url="https://a.example/")
    assert (find(page), len(find(page, more=1))) == ([], 1)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("name", "Ann", "Ann"),
        ("age", " 20 ", 20),
        ("age", "twenty", "twenty"),
        ("weight", "1.5", 1.5),
        ("sure", "yes", True),
        ("sure", "maybe", "maybe"),
        ("many", "a, c", ["a", "c"]),
    ],
)
def test_what_is_typed_is_read_as_its_field_has_it(name: str, text: str, value: Any) -> None:
    field = next(field for field in list_fields(ask().schema) if field.name == name)
    assert parse_value(field, text) == value
