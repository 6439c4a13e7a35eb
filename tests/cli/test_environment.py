"""Each local function is given what its row in the table says, and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.catalog import load
from ferryman.wiring.local import environment
from ferryman.wiring.local.environment import Surroundings, of, table

ROWS = {row["name"]: row for row in table()}


def around(**given: Any) -> Surroundings:
    keys = {"sealing_public_key": "1:x", "receipt_public_keys": {"1": "00" * 32}}
    fixed = {"project": "p", "urls": {"api": "http://a"}, "scripted_model_url": "http://m", **keys}
    return Surroundings(**{**fixed, **given})


@pytest.mark.parametrize("name", ROWS)
def test_only_the_orchestrator_gets_a_model_key(name: str) -> None:
    env = of(ROWS[name], around(caller={"ANTHROPIC_API_KEY": "sk-ant-mine"}))
    assert ("sk-ant-mine" in str(env)) == (name == "orchestrator")


@pytest.mark.parametrize("name", ROWS)
def test_only_the_orchestrator_is_led_to_the_scripted_model(name: str) -> None:
    assert ("http://m" in of(ROWS[name], around()).values()) == (name == "orchestrator")


def test_a_real_model_is_not_asked_at_the_local_clouds_address() -> None:
    assert of(ROWS["orchestrator"], around())["ANTHROPIC_BASE_URL"] == environment.REAL_MODEL_URL


def test_callers_are_accounts_of_the_project() -> None:
    callers = {name: json.loads(of(row, around())["FERRYMAN_CALLERS"]) for name, row in ROWS.items()}
    assert callers["api"] == []
    assert callers["webhook"] == ["ferryman-orchestrator@p.iam.gserviceaccount.com"]


def test_a_host_of_the_users_own_is_an_integration() -> None:
    (mine,) = json.loads(of(ROWS["api"], around(hosts=("api.mine.example",)))["FERRYMAN_INTEGRATIONS"])
    assert (mine["id"], mine["allowed_domains"]) == ("api_mine_example", ["api.mine.example"])


def test_settings_of_whoever_starts_the_stack_are_passed_on_and_nothing_else() -> None:
    env = of(ROWS["api"], around(caller={"FERRYMAN_LEASE_S": "7", "AWS_SECRET_ACCESS_KEY": "x", "FERRYMAN_KEY": "fm_x"}))
    assert env["FERRYMAN_LEASE_S"] == "7"
    assert not {"AWS_SECRET_ACCESS_KEY", "FERRYMAN_KEY"} & env.keys()


def test_prices_of_the_callers_own_stand_beside_the_scripted_one() -> None:
    own = {"mine": {"input": "1", "output": "2"}}
    prices = json.loads(of(ROWS["api"], around(caller={"FERRYMAN_PRICES": json.dumps(own)}))["FERRYMAN_PRICES"])
    assert prices == {"scripted": environment.SCRIPTED_PRICE, **own}


def test_a_variable_that_is_not_what_it_should_be_is_named() -> None:
    with pytest.raises(ValueError, match="FERRYMAN_PRICES must be a JSON object"):
        of(ROWS["api"], around(caller={"FERRYMAN_PRICES": "[]"}))


@pytest.mark.parametrize("host", ["api.mine.example", "9gag.example", "a-b.example", f"{'x' * 60}.example"])
def test_the_id_of_a_host_is_one_the_catalog_takes(host: str) -> None:
    assert load([environment.integration(host)])[environment.integration_id(host)].allowed_domains == (host,)
