"""The blast radius: plan, table, code, local cloud and docs/deploy.md say the same of every function."""

from __future__ import annotations

from functools import cache

import pytest

from infra.proof import matrix, planned
from infra.proof.access import MODEL_KEY, S3_KEYS

PAGE = matrix.INFRA.parent / "docs/deploy.md"
RADIUS = planned.read()
SOURCES = {"table": lambda: matrix.of_table(matrix.rows()), "code": cache(matrix.of_code), "local cloud": matrix.of_local_cloud}


def test_what_was_planned_last_is_the_configuration_as_it_is():
    assert planned.current(), planned.STALE


@pytest.mark.parametrize("source", SOURCES)
def test_the_plan_gives_each_function_what_others_say_of_it(source):
    assert matrix.differences(RADIUS, SOURCES[source]()) == []


@pytest.mark.parametrize("source", SOURCES)
def test_functions_secrets_and_queues_are_known_to_all(source):
    other = SOURCES[source]()
    assert set(other) == set(RADIUS)
    for name, columns in RADIUS.items():
        known = {column for column in columns if column == "firestore" or column.startswith(("secret ", "queue "))}
        known -= {f"secret {name}" for name in (MODEL_KEY, *S3_KEYS)}  # which only a deployment that names them reads
        assert known <= set(other[name])


def test_the_page_of_the_deployment_shows_it():
    table = PAGE.read_text().partition(matrix.BEGIN)[2].partition(matrix.END)[0]
    assert table.strip() == matrix.markdown(RADIUS).strip()


def test_only_those_that_unseal_read_the_unsealing_key():
    readers = {name for name, may in RADIUS.items() if may["secret ferryman-sealing-key"] != matrix.NOTHING}
    assert readers == {name for name, row in matrix.rows().items() if row["unseals"]}


def test_only_the_orchestrator_asks_models_and_it_opens_nothing():
    assert [name for name, may in RADIUS.items() if may["model"] != matrix.NOTHING] == ["orchestrator"]
    assert RADIUS["orchestrator"]["secret ferryman-sealing-key"] == matrix.NOTHING


def test_nobody_but_the_queues_account_and_the_api_calls_the_orchestrator():
    assert RADIUS["orchestrator"]["called by"] == "ferryman-api, ferryman-queue"
    assert [name for name, may in RADIUS.items() if "orchestrator" in may["calls"]] == ["api"]


def test_the_api_cannot_open_what_it_sealed():
    read = {column for column, cell in RADIUS["api"].items() if column.startswith("secret ") and cell != matrix.NOTHING}
    assert read == {"secret ferryman-api-key"}  # what people decide is signed with it, and nothing is sealed to it


def test_nobody_but_the_api_signs_what_people_decide():
    assert {name for name, may in RADIUS.items() if may["secret ferryman-api-key"] != matrix.NOTHING} == {"api"}


def test_who_reaches_any_address_asks_no_model_and_calls_nobody():
    for may in RADIUS.values():
        assert may["egress"] == "google" or (may["model"], may["calls"], may["acts as"]) == (matrix.NOTHING,) * 3


@pytest.mark.parametrize("column", sorted(RADIUS["webhook"]))
def test_a_difference_in_any_column_is_found(column):
    other = {name: {**may, column: "more"} if name == "webhook" else may for name, may in RADIUS.items()}
    assert matrix.differences(RADIUS, other) == [f"webhook, {column}: {RADIUS['webhook'][column]} and more"]


def test_a_function_too_many_is_found():
    assert matrix.differences(RADIUS, {**RADIUS, "spare": {}}) == ["spare: only one of both has it"]
