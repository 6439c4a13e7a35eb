"""Each local function is given what its row in the table says, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.catalog import load
from ferryman.settings import SEARXNG_VARIABLES
from ferryman.stack import environment
from ferryman.stack.environment import StackEnvironment, build_environment, load_functions

ROWS = {row["name"]: row for row in load_functions()}


def around(**values: Any) -> StackEnvironment:
    keys = {"sealing_public_key": "1:x", "receipt_public_keys": {"1": "00" * 32}, "decision_public_keys": {}}
    fixed = {"project": "p", "urls": {"api": "http://a"}, "scripted_model_url": "http://m", **keys}
    return StackEnvironment(**{**fixed, **values})


@pytest.mark.parametrize("name", ROWS)
def test_only_the_orchestrator_gets_a_model_key(name: str) -> None:
    env = build_environment(ROWS[name], around(caller={"ANTHROPIC_API_KEY": "sk-ant-mine"}))
    assert ("sk-ant-mine" in str(env)) == (name == "orchestrator")


@pytest.mark.parametrize("name", ROWS)
def test_only_the_orchestrator_is_led_to_the_scripted_model(name: str) -> None:
    assert ("http://m" in build_environment(ROWS[name], around()).values()) == (name == "orchestrator")


def test_a_real_model_is_not_asked_at_the_local_clouds_address() -> None:
    assert build_environment(ROWS["orchestrator"], around())["ANTHROPIC_BASE_URL"] == environment.REAL_MODEL_URL


def test_callers_are_accounts_of_the_project() -> None:
    callers = {name: json.loads(build_environment(row, around())["FERRYMAN_CALLERS"]) for name, row in ROWS.items()}
    assert callers["api"] == []
    assert callers["webhook"] == ["ferryman-orchestrator@p.iam.gserviceaccount.com"]


@pytest.mark.parametrize("name", ROWS)
def test_who_starts_a_function_may_have_it_connect_and_calls_nothing_else(name: str) -> None:
    env = build_environment(ROWS[name], around())
    warmers = json.loads(env["FERRYMAN_WARMERS"])
    assert warmers == ["ferryman-warmer@p.iam.gserviceaccount.com"]
    assert not {*warmers} & {*json.loads(env["FERRYMAN_CALLERS"])}


def test_a_host_of_the_users_own_is_an_integration() -> None:
    (mine,) = json.loads(build_environment(ROWS["api"], around(hosts=("api.mine.example",)))["FERRYMAN_INTEGRATIONS"])
    assert (mine["id"], mine["allowed_domains"]) == ("api_mine_example", ["api.mine.example"])


def test_settings_of_the_caller_are_passed_on_and_nothing_else() -> None:
    env = build_environment(
        ROWS["api"], around(caller={"FERRYMAN_LEASE_S": "7", "AWS_SECRET_ACCESS_KEY": "x", "FERRYMAN_KEY": "fm_x"})
    )
    assert env["FERRYMAN_LEASE_S"] == "7"
    assert not {"AWS_SECRET_ACCESS_KEY", "FERRYMAN_KEY"} & env.keys()


def test_prices_of_the_callers_own_stand_beside_the_scripted_one() -> None:
    added = {"mine": {"input": "1", "output": "2"}}
    prices = json.loads(
        build_environment(ROWS["api"], around(caller={"FERRYMAN_PRICES": json.dumps(added)}))["FERRYMAN_PRICES"]
    )
    assert prices == {"scripted": environment.SCRIPTED_PRICE, **added}


def test_a_variable_that_is_not_what_it_should_be_is_named() -> None:
    with pytest.raises(ValueError, match="FERRYMAN_PRICES must be a JSON object"):
        build_environment(ROWS["api"], around(caller={"FERRYMAN_PRICES": "[]"}))


@pytest.mark.parametrize("host", ["api.mine.example", "9gag.example", "a-b.example", f"{'x' * 60}.example"])
def test_the_id_of_a_host_is_one_the_catalog_takes(host: str) -> None:
    assert load([environment.build_integration(host)])[environment.derive_integration_id(host)].allowed_domains == (host,)


KEYED = json.dumps(
    {name: {"url": "http://a", "input": 0, "output": 0, "key": f"MODEL_KEY_{name.upper()}"} for name in ("a", "b")}
)


@pytest.mark.parametrize("name", ROWS)
def test_only_the_orchestrator_gets_the_key_of_an_own_model_and_all_know_that_it_is_set(name: str) -> None:
    caller = {"FERRYMAN_MODELS": KEYED, "MODEL_KEY_A": "the-key", "MODEL_KEY_C": "of-no-model"}
    env = build_environment(ROWS[name], around(caller=caller))
    assert ("the-key" in str(env)) == (name == "orchestrator")
    assert "of-no-model" not in str(env)
    assert env["FERRYMAN_MODEL_KEYS_SET"] == '["MODEL_KEY_A"]'


@pytest.mark.parametrize("variable", SEARXNG_VARIABLES)
@pytest.mark.parametrize("name", ROWS)
def test_the_function_that_searches_alone_is_told_of_another_engine(name: str, variable: str) -> None:
    env = build_environment(ROWS[name], around(caller={variable: "http://10.1.2.3:8080"}))
    assert env.get("FERRYMAN_SEARXNG_ENDPOINT") == ("http://10.1.2.3:8080" if name == "search" else None)


@pytest.mark.parametrize("name", ROWS)
def test_only_the_functions_with_the_platform_s_key_are_told_of_another_platform(name: str) -> None:
    named = {"CRAWBL_MCP_ENDPOINT": "https://p.example/mcp", "CRAWBL_MCP_SIGNING_KEY": "k" * 32, "CRAWBL_WORKSPACE_ID": "ws_1"}
    env = build_environment(ROWS[name], around(caller=named))
    passed_on = {variable: value for variable, value in env.items() if variable in named}
    assert passed_on == (named if name in ("platform", "platform_call") else {})


def test_the_workspace_of_commands_is_not_that_of_a_runtime_whose_platform_is_our_own() -> None:
    env = build_environment(ROWS["platform_call"], around(caller={"CRAWBL_WORKSPACE_ID": "ws_1", "CRAWBL_USER_ID": "ann"}))
    assert ("CRAWBL_WORKSPACE_ID" in env, env["CRAWBL_USER_ID"]) == (False, "ann")
