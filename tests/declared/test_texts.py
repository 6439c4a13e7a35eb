"""Texts: JSON and YAML alike, within limits, and nothing that JSON cannot represent."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.declared import texts
from ferryman.domain.problem import InvalidInputError

ALIASES = "\n".join(["a0: &a0 [x,x,x,x,x,x,x,x,x,x]", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}),
        ("a:\n  - 1\n  - 2.5\n  - true\n  - ~\n  - x\n", {"a": [1, 2.5, True, None, "x"]}),
        ("{a: b, c: [d]}", {"a": "b", "c": ["d"]}),
        ("on: no\nyes: off\n", {"on": "no", "yes": "off"}),
        ("d: 2026-03-01\nt: 12:30:45\n", {"d": "2026-03-01", "t": "12:30:45"}),
        ("'200':\n  a: 0o17\n404: 0x1F\n", {"200": {"a": 15}, "404": 31}),
        ("a: '5'\nb: !!str 5\nc: \"\\u00e9\"\nd: 012", {"a": "5", "b": "5", "c": "é", "d": 12}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("a: &x {b: 1}\nc: *x\n", {"a": {"b": 1}, "c": {"b": 1}}),
        (b"\xef\xbb\xbf{}", {}),
        ("- {}\n- []\n", [{}, []]),
    ],
)
def test_what_is_read(text: str | bytes, expected: Any) -> None:
    assert texts.loads(text, what="document") == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, "too deep"),
        ('{"a":' * 100_000, "too deep"),
        ("- " * 100_000, "128 deep"),
        ("a: " + "[" * 100_000, "128 deep"),
        ("[" * 129 + "]" * 129, "128 deep"),
        (ALIASES, "2000000 values"),
        ("a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200)), "128 deep"),
        ("&a [*a]", "not complete"),
        ("[*a]", "does not exist"),
        ('{"a": 1, "a": 2}', "'a' twice"),
        ("a: 1\na: 2\n", "'a' twice"),
        ("? [a]\n: b\n", "not a text"),
        ("? {a: b}\n: c\n", "not a text"),
        ("!!python/object/apply:os.system [id]", "tag"),
        ("!!python/name:os.system x", "tag"),
        ("!!binary YQ==", "tag"),
        ("!own {}", "tag"),
        ("[NaN]", "NaN"),
        ("[Infinity]", "Infinity"),
        ("[1e999]", "double"),
        ("a: 1e999", "double"),
        ("[" + "1" * 5_000 + "]", "number"),
        ("a: " + "1" * 5_000, "number"),
        ('["\\ud800"]', "Unicode"),
        ('{"\\ud800": 1}', "Unicode"),
        (b"\xff\xfe", "Unicode"),
        ("---\na\n---\nb\n", "one document"),
        ("", "one document"),
        ("a: [", "line 2, column 1"),
        ("[" * 127 + "{a: [[1]]}" + "]" * 127, "128 deep"),
        ('{"a": ]', "line 1, column 7"),
        ("a: \x00", "neither"),
    ],
)
def test_what_is_refused(text: str | bytes, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as caught:
        texts.loads(text, what="spec")
    [problem] = caught.value.problems
    assert problem.field == "spec"
    assert len(problem.message) < 200


def test_a_text_that_is_too_long_is_not_read() -> None:
    with pytest.raises(InvalidInputError, match="16777216 bytes"):
        texts.loads(b" " * (texts.BYTES_MAX + 1), what="spec")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé:-# {}[]&*!|>'\"%@`,?\n0123", max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab:-# \n0é'", max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=50)
@given(JSON)
def test_a_value_written_as_json_or_yaml_comes_back(value: Any) -> None:
    assert texts.loads(json.dumps([value]), what="x") == [value]
    assert texts.loads(yaml.safe_dump([value], allow_unicode=True), what="x") == [value]


@settings(max_examples=40)
@given(
    st.one_of(
        st.text(),
        st.binary(),
        st.lists(st.sampled_from(("{", "}", "[", "]", ":", " ", "\n", "- ", "&a ", "*a", "!", "'", '"', "a", "1"))).map(
            "".join
        ),
    )
)
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    try:
        value = texts.loads(text, what="x")
    except InvalidInputError:
        return
    json.dumps(value, allow_nan=False).encode()


def test_json_of_too_many_values_is_refused_before_any_is_made() -> None:
    tracemalloc.start()
    with pytest.raises(InvalidInputError, match="2000000 values"):
        texts.loads("[" + "{}," * 2_000_000 + "{}]", what="document")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000_000


def test_yaml_of_too_many_values_is_refused_before_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "NODES_MAX", 10)
    with pytest.raises(InvalidInputError, match="values"):
        texts.loads("- a\n" * 100 + "- [", what="document")  # what follows is no YAML
