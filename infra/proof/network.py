"""The network: what each function reaches through the firewall, and what the rules let past that they should not."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infra.proof.access import Row
from infra.proof.plan import TerraformPlan, block

PRIVATE = tuple(map(ipaddress.ip_network, ("10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16")))
PUBLIC_ADDRESS = ipaddress.ip_network("8.8.8.8/32")
GOOGLE = ipaddress.ip_network("199.36.153.8/30")
"""private.googleapis.com."""

SEARCH = "search"
"""The way out to the operator's search engine and to Google."""

SEARCH_TAG = "ferryman-search"
"""Its tag, and the name of its rule."""

SEARCH_PORT = 8080


def wrong(plan: TerraformPlan, rows: Mapping[str, Row], variables: Mapping[str, Any]) -> Iterator[str]:
    reach = egress(plan)
    for name, row in rows.items():
        keyed = row["model"] and ("model_key_version" in variables or "FERRYMAN_MODELS" in variables.get("settings", {}))
        keyed = keyed or ("s3" in variables and bool(row.get("buckets")))
        due = "any" if keyed or not variables.get("network") else row["egress"]
        due = "google" if due == SEARCH and not variables.get("search_ranges") else due
        if reach.get(name) != due:
            yield f"function {name} reaches {reach.get(name)}, and {due} in the table"
    for rule in plan.list_kind("google_compute_firewall"):
        if rule.get("direction") != "EGRESS":
            yield f"the firewall's rule {rule['name']} lets somebody in"
    ranges = set(variables.get("search_ranges", ()))
    for rule in _list_search_rules(plan):
        if set(rule["destination_ranges"]) != ranges or rule["target_tags"] != [SEARCH_TAG]:
            yield "the rule of the search engine is for other addresses, or for others than the function that searches"
    if variables.get("network") and any(
        _allows(plan, tag, address, port) for tag in _tags(plan) for address in PRIVATE for port in (443, SEARCH_PORT)
    ):
        yield "the network reaches private addresses"
    if variables.get("network") and any(
        _allows(plan, tag, address, 80) for tag in _tags(plan) for address in (PUBLIC_ADDRESS, GOOGLE)
    ):
        yield "the network lets more out than HTTPS"
    if variables.get("network") and not all(_allows(plan, tag, GOOGLE, 443) for tag in _tags(plan)):
        yield "a function does not reach Google's services"


def egress(plan: TerraformPlan) -> dict[str, str]:
    """Return what each function reaches: `any` public address, the `search` engine and Google, or `google` alone."""
    reach = {}
    for name, function in plan.functions().items():
        config = block(function, "service_config")
        interface = block(config, "direct_vpc_network_interface")
        confined = interface.get("tags") and config.get("direct_vpc_egress") == "VPC_EGRESS_ALL_TRAFFIC"
        open_ = not confined or any(_allows(plan, tag, PUBLIC_ADDRESS, 443) for tag in interface["tags"])
        searches = any(set(rule["target_tags"]) & set(interface.get("tags") or ()) for rule in _list_search_rules(plan))
        reach[name] = "any" if open_ else SEARCH if searches else "google"
    return reach


def _list_search_rules(plan: TerraformPlan) -> list[Mapping[str, Any]]:
    return [rule for rule in plan.list_kind("google_compute_firewall") if rule["name"] == SEARCH_TAG]


def _tags(plan: TerraformPlan) -> set[str]:
    configs = (block(function, "service_config") for function in plan.functions().values())
    return {tag for config in configs for tag in block(config, "direct_vpc_network_interface").get("tags") or []}


def _allows(plan: TerraformPlan, tag: str, address: Any, port: int) -> bool:
    """Return whether something with this tag gets out to any of these addresses: the rule of the lowest number decides.

    The rule of the search engine, which is judged by itself, does not count.
    """
    listed = (rule for rule in plan.list_kind("google_compute_firewall") if rule["name"] != SEARCH_TAG)
    rules = (rule for rule in listed if tag in rule["target_tags"])
    for rule in sorted(rules, key=lambda rule: int(rule["priority"])):
        ranges = [ipaddress.ip_network(address_range) for address_range in rule["destination_ranges"]]
        if any(address.overlaps(address_range) for address_range in ranges) and _speaks(rule.get("allow"), port):
            return True
        if any(address.subnet_of(address_range) for address_range in ranges) and _speaks(rule.get("deny"), port):
            return False
    return True  # without a rule of ours, everything may leave


def _speaks(parts: Iterable[Mapping[str, Any]] | None, port: int) -> bool:
    return any(part["protocol"] == "all" or str(port) in (part.get("ports") or [str(port)]) for part in parts or [])
