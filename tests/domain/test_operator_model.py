"""Operator models: what a row of FERRYMAN_MODELS may say, and how each mistake is named."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.operator_model import OperatorModel, parse_operator_models
from ferryman.domain.problem import InvalidInputError

ROW = {"url": "http://127.0.0.1:11434", "input": 0, "output": 0}


def read_problem(name: str = "llama", **changes: Any) -> str:
    row = {key: value for key, value in {**ROW, **changes}.items() if value is not None}
    with pytest.raises(InvalidInputError) as invalid:
        parse_operator_models({name: row})
    return str(invalid.value)


def test_a_url_and_prices_are_enough_and_the_prices_may_be_0() -> None:
    price = {"input": Decimal(0), "output": Decimal(0)}
    model = OperatorModel(name="llama", url="http://127.0.0.1:11434", served_as="llama", price=price)
    assert parse_operator_models({"llama": ROW}) == {"llama": model}


def test_a_server_may_know_it_by_another_name() -> None:
    assert parse_operator_models({"llama": {**ROW, "model": "meta/Llama-3:8b"}})["llama"].served_as == "meta/Llama-3:8b"


@pytest.mark.parametrize("url", ["https://gateway.test/v1/", "http://[::1]:8000", "http://vllm:8000/a/b"])
def test_a_url_is_any_base_of_http(url: str) -> None:
    assert parse_operator_models({"m": {**ROW, "url": url}})["m"].url == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        *(
            None,
            7,
            "",
            "localhost:11434",
            "ftp://a/",
            "http://",
            "http://u:p@a/",
            "http://a/?k=v",
            "http://a/#f",
            "http://a b/",
        ),
        *("http://a:99999", "http://a:0", "http://[", "http://ä.test/", "http://a\\b/", "http://a/" + "x" * 2_000),
    ],
)
def test_what_is_no_such_url_is_told(url: Any) -> None:
    assert read_problem(url=url).startswith("llama.url: must be an http or https URL of at most 2000 characters")


@pytest.mark.parametrize("price", [-1, "-0.1", "nan", "inf", "1e9", "free", True, [], {}])
def test_a_price_that_is_none_is_told_with_its_limit(price: Any) -> None:
    assert read_problem(input=price) == "llama.input: must be a number from 0 to 1000000, in USD per million tokens"


def test_a_key_is_named_and_never_given() -> None:
    assert parse_operator_models({"m": {**ROW, "key": "MODEL_KEY_GATEWAY"}})["m"].key == "MODEL_KEY_GATEWAY"
    assert parse_operator_models({"m": ROW})["m"].key is None


@pytest.mark.parametrize(
    "key", ["the-key-itself", "", "MODEL_KEY_", "MODEL_KEY_a", "MODEL_KEY_" + "A" * 41, 7, ["MODEL_KEY_A"]]
)
def test_a_key_that_is_no_name_of_a_secret_is_told_without_it(key: Any) -> None:
    problem = read_problem(key=key)
    assert problem == "llama.key: must be the name of a secret, never the key itself: MODEL_KEY_ and 1 to 40 of A-Z, 0-9 and _"


def test_a_price_that_is_missing_is_told() -> None:
    assert read_problem(output=None) == "llama.output: is missing; it is USD per million tokens, and 0 is allowed"


def test_a_field_that_is_not_known_is_told() -> None:
    assert read_problem(outptu=1) == (
        "llama.outptu: is not known; known are: url, model, key, input, output, cache_write, cache_read"
    )


@pytest.mark.parametrize("name", ["", "Llama", "llama/3", "x" * 65, "scripted"])
def test_a_name_that_no_task_could_use_is_told(name: str) -> None:
    assert "must have a name of at most 64" in read_problem(name)


def test_a_row_that_is_no_object_is_told() -> None:
    with pytest.raises(InvalidInputError, match="llama: must be an object with url, input and output"):
        parse_operator_models({"llama": "http://a"})


def test_there_may_be_100() -> None:
    with pytest.raises(InvalidInputError, match="models: must be at most 100, are 101"):
        parse_operator_models({f"m{number}": ROW for number in range(101)})


rows = st.recursive(st.none() | st.integers() | st.text(max_size=8), lambda inner: st.dictionaries(st.text(max_size=8), inner))


@settings(max_examples=30)
@given(st.dictionaries(st.text(max_size=8), rows | st.fixed_dictionaries({}, optional=dict.fromkeys(("url", *ROW), rows))))
def test_whatever_it_says_it_is_read_or_named(table: dict[str, Any]) -> None:
    try:
        assert set(parse_operator_models(table)) == set(table)
    except InvalidInputError as error:
        assert error.problems  # noqa: PT017 - either is right
