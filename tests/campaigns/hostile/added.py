"""MCP servers that a scenario's owner adds to an agent, and accepts tools of, through the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tests.campaigns.hostile.harness import Harness
from tests.campaigns.hostile.scenario import AddedServer, Answer, Scenario
from tests.campaigns.hostile.spelling import fill

if TYPE_CHECKING:
    from tests.campaigns.hostile.scenario_run import ScenarioRun

SERVERS = ("server", "server2", "server3")
"""Words for the ids of the servers, in the order of the scenario."""


def serve(scenario: Scenario, words: Mapping[str, str]) -> dict[str, Answer]:
    """Return what the hosts of the scenario's servers answer, by the end of the path."""
    return {fill(server.path, words): Answer(peer=server.peer.enter(words)) for server in scenario.servers}


def list_texts(scenario: Scenario) -> list[Any]:
    """Return all that the scenario's servers may write."""
    return [asdict(server.peer) for server in scenario.servers]


def locate(scenario: Scenario, words: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return host and path of each server."""
    return {(fill(server.host, words).lower(), fill(server.path, words)) for server in scenario.servers}


async def add_servers(harness: Harness, run: ScenarioRun) -> None:
    """Add each server, note its id, and accept its tools as the owner does who read them."""
    for word, server in zip(SERVERS, run.scenario.servers, strict=False):
        await _add(harness, run, server, word)


async def _add(harness: Harness, run: ScenarioRun, server: AddedServer, word: str) -> None:
    place = f"{harness.url}/v1/agents/{run.words['agent']}/mcp"
    body = {
        "name": server.name,
        "url": f"https://{server.host}{server.path}",
        "auth": dict(server.auth),
        **({"headers": dict(server.headers)} if server.headers else {}),
    }
    answer = await harness.http.post(place, json=fill(body, run.words), headers=run.bearer)
    run.responses.append(answer.content)
    if server.status is not None:
        assert answer.status_code == server.status, f"the server was answered {answer.status_code}: {answer.text[:300]}"
    if not answer.is_success:
        return
    run.words[word] = str(json.loads(answer.content)["server_id"])
    place = f"{place}/{run.words[word]}"
    listed = await harness.http.get(f"{place}/tools", headers=run.bearer)
    run.responses.append(listed.content)
    assert listed.is_success, f"the tools were answered {listed.status_code}: {listed.text[:200]}"
    accepted = [entry for entry in listed.json()["data"] if _is_accepted(entry, server)]
    digests = {entry["config"]["tool_name"]: entry["digest"] for entry in accepted}
    if digests:
        answer = await harness.http.post(f"{place}/accept", json={"digests": digests}, headers=run.bearer)
        run.responses.append(answer.content)
        assert answer.is_success, f"the acceptance was answered {answer.status_code}: {answer.text[:200]}"


def _is_accepted(entry: Mapping[str, Any], server: AddedServer) -> bool:
    name = str(entry["config"]["tool_name"])
    return entry["state"] == "new" and (server.accept is None or name in server.accept)
