"""The network: what gets out, by the rules of a firewall in the order of their numbers."""

from __future__ import annotations

from typing import Any

import pytest

from infra.proof import matrix, network
from infra.proof.plan import Resource, TerraformPlan

ROWS = matrix.rows()
VARIABLES = {"project": "demo-project", "network": True, "search_ranges": ["10.1.2.3/32"]}
EVERYWHERE = ["0.0.0.0/0"]
ENGINE = ["10.1.2.3/32"]
TAGS = {network.SEARCH: network.SEARCH_TAG}


def rule(
    priority: int,
    ranges: list[str],
    *,
    tags: tuple[str, ...] = ("any", "google", "ferryman-search"),
    ports: tuple[str, ...] = (),
    allow: bool,
) -> Resource:
    allowed_ports = [{"protocol": "tcp" if ports else "all", "ports": list(ports)}]
    values = {
        "name": f"rule-{priority}",
        "direction": "EGRESS",
        "priority": priority,
        "destination_ranges": ranges,
        "target_tags": tags,
    }
    kind = "google_compute_firewall"
    return Resource(address=f"rule-{priority}", kind=kind, values={**values, "allow" if allow else "deny": allowed_ports})


def function(name: str, *, through: str | None = "VPC_EGRESS_ALL_TRAFFIC") -> Resource:
    interface: list[dict[str, Any]] = [{"tags": [TAGS.get(ROWS[name]["egress"], ROWS[name]["egress"])]}]
    config = {
        "environment_variables": {"FERRYMAN_FUNCTION": name},
        "direct_vpc_egress": through,
        "direct_vpc_network_interface": interface,
    }
    return Resource(address=name, kind="google_cloudfunctions2_function", values={"name": name, "service_config": [config]})


PRIVATE = [str(item) for item in network.PRIVATE]


def search_rule(ranges: list[str] = ENGINE, *tags: str) -> Resource:
    allowed = rule(50, ranges, tags=tags or (network.SEARCH_TAG,), ports=("8080",), allow=True)
    values = {**allowed.values, "name": network.SEARCH_TAG, "target_tags": list(allowed.values["target_tags"])}
    return Resource(address="search", kind=allowed.kind, values=values)


SEARCH_RULE = search_rule()
RULES = (
    rule(100, PRIVATE, allow=False),
    rule(200, [str(network.GOOGLE)], tags=("google", network.SEARCH_TAG), ports=("443",), allow=True),
    SEARCH_RULE,
    rule(201, EVERYWHERE, tags=("any",), ports=("443",), allow=True),
    rule(65000, EVERYWHERE, allow=False),
)
FUNCTIONS = tuple(map(function, ROWS))


def wrong(*resources: Resource) -> list[str]:
    return list(network.wrong(TerraformPlan(resources=resources), ROWS, VARIABLES))


def test_each_function_reaches_what_the_table_says():
    assert wrong(*RULES, *FUNCTIONS) == []
    assert network.egress(TerraformPlan(resources=(*RULES, *FUNCTIONS))) == {name: row["egress"] for name, row in ROWS.items()}


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_range_that_is_not_denied_is_told(address):
    fewer = rule(100, [item for item in PRIVATE if item != address], allow=False)
    assert "the network reaches private addresses" in wrong(fewer, *RULES[1:], *FUNCTIONS)


def test_a_denial_of_half_a_private_range_is_told():
    half = rule(100, ["10.0.0.0/9" if item == "10.0.0.0/8" else item for item in PRIVATE], allow=False)
    assert "the network reaches private addresses" in wrong(half, *RULES[1:], *FUNCTIONS)


def test_a_denial_that_comes_after_is_told():
    late = rule(300, PRIVATE, allow=False)
    assert "the network reaches private addresses" in wrong(late, *RULES[1:], *FUNCTIONS)


def test_without_the_last_denial_everything_leaves():
    assert "the network lets more out than HTTPS" in wrong(*RULES[:-1], *FUNCTIONS)


def test_without_its_rule_nobody_reaches_google():
    assert "a function does not reach Google's services" in wrong(RULES[0], *RULES[2:], *FUNCTIONS)


def test_a_function_that_goes_past_the_network_is_told():
    others = [item for item in FUNCTIONS if item.address != "api"]
    past = function("api", through="VPC_EGRESS_PRIVATE_RANGES_ONLY")
    assert wrong(*RULES, *others, past) == ["function api reaches any, and google in the table"]


def test_a_rule_that_lets_in_is_told():
    inward = Resource(
        address="in", kind="google_compute_firewall", values={**RULES[4].values, "name": "in", "direction": "INGRESS"}
    )
    assert "the firewall's rule in lets somebody in" in wrong(*RULES, *FUNCTIONS, inward)


@pytest.mark.parametrize("other", [search_rule(["10.0.0.0/8"]), search_rule(ENGINE, network.SEARCH_TAG, "any")])
def test_a_rule_of_the_search_engine_for_more_addresses_or_for_more_functions_is_told(other):
    problems = wrong(*(other if item is SEARCH_RULE else item for item in RULES), *FUNCTIONS)
    assert "the rule of the search engine is for other addresses, or for others than the function that searches" in problems


def test_without_its_rule_the_function_that_searches_reaches_google_alone():
    rules = [item for item in RULES if item is not SEARCH_RULE]
    assert wrong(*rules, *FUNCTIONS) == ["function search reaches google, and search in the table"]
