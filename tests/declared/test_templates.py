"""Templates: what they mean, and that no inserted value is read as one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.declared.templates import ABSENT, MalformedTemplateError, fill, get_part, join_pieces, parse, to_text
from ferryman.domain.http.request import SecretPlaceholder, Template

VALUES = {
    "name": "Ada",
    "none": None,
    "no": False,
    "zero": 0,
    "empty": [],
    "count": 3,
    "half": 0.5,
    "two": 2.0,
    "deep": {"a": {"b": ["x", "y"]}},
    "key": Template((SecretPlaceholder("API_KEY"),)),
}


def fill_with(template: str, **values: Any) -> Any:
    values = {**VALUES, **values}
    return fill(parse(template), lambda name: get_part(values.get(name.root), name.parts[1:]))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("hello {{name}}", "hello Ada"),
        ("{{ name }}!", "Ada!"),
        ("[{{none}}]", "[]"),
        ("[{{nobody}}]", "[]"),
        ("{{deep.a.b.1}}", "y"),
        ("<{{deep.a.b.7}}>", "<>"),
        ("<{{name.first}}>", "<>"),
        ("n={{count}} h={{half}} t={{two}} b={{no}}", "n=3 h=0.5 t=2 b=false"),
        ("d={{deep}}", 'd={"a":{"b":["x","y"]}}'),
        ("{{#if name}}yes{{else}}no{{/if}}", "yes"),
        ("{{#if none}}yes{{else}}no{{/if}}", "no"),
        ("{{#if zero}}yes{{/if}}.", "."),
        ("{{#if empty}}yes{{/if}}.", "."),
        ('{{#if name == "Ada"}}yes{{/if}}', "yes"),
        ("{{#if name != 'Ada'}}yes{{else}}no{{/if}}", "no"),
        ("{{#if count == 3}}three{{/if}}", "three"),
        ("{{#if no == false}}off{{/if}}", "off"),
        ("{{#if none == null}}null{{/if}}", "null"),
        ('{{#if none == ""}}empty{{else}}null is no text{{/if}}', "null is no text"),
        ("{{#if deep.a != null}}{{#if no}}a{{else}}b{{/if}}{{/if}}", "b"),
        ("a }} b", "a }} b"),
        ("", ""),
    ],
)
def test_what_a_template_means(template: str, expected: str) -> None:
    assert fill_with(template) == expected


@pytest.mark.parametrize("value", [[1, {"a": None}], {"x": 1}, 7, 2.0, True, None])
def test_a_template_that_is_nothing_but_a_name_keeps_the_type(value: Any) -> None:
    assert fill_with("{{v}}", v=value) is value


@pytest.mark.parametrize(
    "template",
    [
        *("{{", "{{name", "{{}}", "{{ }}", "{{a b}}", "{{{a}}}", "{{a..b}}", "{{.a}}", "{{a.}}", "{{1a}}", "{{a|upper}}"),
        *(
            "{{#item list}}{{/item}}",
            "{{#if}}x{{/if}}",
            "{{#if a}}x",
            "{{/if}}",
            "{{else}}",
            "{{#if a}}{{else}}{{else}}{{/if}}",
        ),
        *(
            "{{#if a == b}}x{{/if}}",
            "{{#if a = 1}}x{{/if}}",
            "{{#if a == 'x}}x{{/if}}",
            "{{#unless a}}x{{/unless}}",
            "{{> part}}",
        ),
        "{{#if a}}" * 17 + "{{/if}}" * 17,
    ],
)
def test_what_is_no_template(template: str) -> None:
    with pytest.raises(MalformedTemplateError):
        parse(template)


def test_braces_of_json_may_stand_around_a_name() -> None:
    assert fill_with('{"n":{{count}},"o":{"name":"{{name}}"}}') == '{"n":3,"o":{"name":"Ada"}}'


@pytest.mark.parametrize("text", ["{{" * 100_000, "{{a" * 100_000, "{{#if a}}{{" * 50_000, "}}" * 100_000 + "{{"])
def test_a_long_text_without_sense_is_refused_at_once(text: str) -> None:
    with pytest.raises(MalformedTemplateError):
        parse(text)


def test_a_secret_is_a_placeholder_that_nothing_fills_here() -> None:
    assert fill_with("Bearer {{key}}!") == Template(("Bearer ", SecretPlaceholder("API_KEY"), "!"))
    assert str(fill_with("Bearer {{key}}")) == "Bearer {{secrets.API_KEY}}"


def test_what_is_absent_reads_as_nothing() -> None:
    assert fill_with("<{{v}}>{{#if v}}x{{/if}}{{#if v == null}}n{{/if}}", v=ABSENT) == "<>n"
    assert fill_with("{{v.a}}", v=ABSENT) is ABSENT


BITS = st.sampled_from(
    ("{{", "}}", "{{name}}", "{{secrets.API_KEY}}", "{{env.HOME}}", "{{#if a}}", "{{/if}}", "{{else}}", " ", "a")
)
HOSTILE = st.one_of(st.text(), st.lists(BITS).map("".join))


@settings(max_examples=40)
@given(HOSTILE, HOSTILE)
def test_no_value_is_read_as_a_template(first: str, second: str) -> None:
    assert fill_with("<{{first}}|{{second}}>", first=first, second=second) == f"<{first}|{second}>"
    assert fill_with("{{#if first == 'x'}}{{else}}{{second}}{{/if}}.", first=first, second=second) == (
        "." if first == "x" else f"{second}."
    )


@settings(max_examples=40)
@given(HOSTILE)
def test_any_text_is_a_template_or_malformed(values: str) -> None:
    try:
        template = parse(values)
    except MalformedTemplateError:
        return
    fill(template, lambda name: None)


@settings(max_examples=40)
@given(st.lists(st.one_of(st.text(), st.just(Template((SecretPlaceholder("K"),))))))
def test_pieces_are_joined_without_loss(pieces: list[Any]) -> None:
    assert str(join_pieces(pieces)) == "".join(map(str, pieces))


@settings(max_examples=40)
@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers()))
def test_a_number_reads_back_from_its_text(number: float) -> None:
    assert float(to_text(number)) == number or isinstance(number, int)
    if isinstance(number, int):
        assert int(to_text(number)) == number
