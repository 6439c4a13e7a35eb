"""A model that needs a key is refused when the task is stored where none is set, not when it runs."""

from __future__ import annotations

from ferryman.billing.prices import Prices
from ferryman.domain.tasks.task import find_key_problems

PRICED = Prices({"scripted": {"input": "3", "output": "15"}, "llama": {"input": 0, "output": 0}})
USABLE = frozenset(("scripted", "llama"))


def test_it_is_told_what_to_set_and_which_models_need_no_key() -> None:
    (problem,) = find_key_problems("claude-haiku-4-5", PRICED, USABLE)
    assert (problem.field, problem.message) == (
        "model",
        "needs a key, and none is set (ANTHROPIC_API_KEY); without one there are: llama, scripted",
    )


def test_models_that_need_none_are_stored() -> None:
    assert [*find_key_problems("llama", PRICED, USABLE), *find_key_problems("scripted/hello", PRICED, USABLE)] == []


def test_where_a_key_is_set_all_are_stored() -> None:
    assert find_key_problems("claude-haiku-4-5", PRICED, None) == []


def test_a_model_that_nobody_knows_is_told_by_its_price_alone() -> None:
    assert find_key_problems("gpt-9", PRICED, USABLE) == []


def test_the_key_that_a_model_of_ones_own_lacks_is_named() -> None:
    (problem,) = find_key_problems("gateway", [*PRICED, "gateway"], USABLE, {"gateway": "MODEL_KEY_GATEWAY"})
    assert problem.field == "model"
    assert "none is set (MODEL_KEY_GATEWAY)" in problem.message
