"""Round trip: whatever a workspace defines, an import of its archive defines the same, up to ids, times and origin."""

from __future__ import annotations

import asyncio
import io
from collections import Counter
from collections.abc import Mapping
from typing import Any

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.archives.reading import iterate_files
from ferryman.domain.archives.manifest import MANIFEST
from ferryman.inmemory.clock import START

from .conftest import Stage, create_app
from .importing import Files, import_archive, read_values

KINDS = ("workspace", "agents", "tasks", "tools")
OF_PLACE = {"id", "created_at", "updated_at"}
MODELS = ("claude-haiku-4-5", "scripted/a")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
"""Any Unicode but lone surrogates, which no text that is stored has."""

task_names = texts.filter(str.strip)
shown_names = texts.filter(lambda name: name.strip() and name.isprintable())
limits = st.none() | st.decimals(min_value="0.0001", max_value=1_000, places=4).map(str)
tool_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,11}", fullmatch=True).filter(
    lambda name: not name.startswith("orchestrator")
)
tool_lists = st.lists(
    st.sampled_from(["http_get", "api_call", "orchestrator__http_post", "look_up", "wait_until"]), unique=True
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts, lambda inner: st.lists(inner, max_size=2)
)
tool_settings = st.fixed_dictionaries(
    {},
    optional={
        "calls_max": st.none() | st.integers(1, 1_000),
        "timeout_s": st.none() | st.floats(0.001, 20) | st.integers(1, 20),
        "arguments": st.fixed_dictionaries({}, optional={"url": texts, "query_params": st.dictionaries(texts, values)}),
    },
)
rules = st.lists(
    st.fixed_dictionaries(
        {"mode": st.sampled_from(["always", "when_untrusted", "never"])},
        optional={
            "tools": st.lists(st.sampled_from(["http_post", "orchestrator__api_call"]), unique=True),
            "hosts": st.lists(st.sampled_from(["api.github.com", "*.example.com"]), unique=True),
            "methods": st.lists(st.sampled_from(["POST", "DELETE"]), unique=True),
            "amount": st.builds(
                lambda above: {"argument": "body.amount", "above": str(above)},
                st.decimals(min_value="0.0001", max_value=100, places=4),
            ),
        },
    ),
    max_size=2,
)
"""Rules of approvals, as a task, an agent and a workspace have them."""

agents = st.fixed_dictionaries(
    {"name": shown_names},
    optional={
        "description": texts,
        "system_prompt": texts,
        "model": st.sampled_from([None, *MODELS]),
        "template": st.sampled_from(["manager", "wally", "eve"]),
        "allowed_tools": tool_lists,
        "tool_settings": st.dictionaries(st.sampled_from(["http_get", "orchestrator__api_call"]), tool_settings),
        "max_credits_month": limits,
        "conversation_credits_max": limits,
        "tools_enabled": st.booleans(),
        "enabled_tools": st.none() | tool_lists,
        "titles": st.sampled_from(["first_line", "model"]),
        "approvals": rules,
    },
)
schedules = st.one_of(
    st.builds(lambda hour: {"type": "cron", "cron": f"0 {hour} * * MON-FRI"}, st.integers(0, 23)),
    st.builds(lambda seconds: {"type": "delayed", "after_s": seconds}, st.integers(60, 86_400)),
    st.builds(lambda day: {"type": "once", "at": f"{START.year + 1}-01-{day:02}T09:00:00+02:00"}, st.integers(1, 31)),
)
declared = st.fixed_dictionaries(
    {"kind": st.just("http"), "url": st.just("https://api.github.com/repos/{name}")},
    optional={
        "description": texts,
        "method": st.sampled_from(["GET", "DELETE"]),
        "headers": st.just({"authorization": "Bearer {{secrets.GITHUB_TOKEN}}"}),
        "parameters": st.builds(lambda text: {"name": {"type": "string", "description": text}}, texts),
    },
)
tasks = st.fixed_dictionaries(
    {
        "name": task_names,
        "task_prompt": task_names,
        "integrations": st.just(["github"]),
        "model": st.sampled_from(MODELS),
    },
    optional={
        "description": texts,
        "system_prompt": texts,
        "tools": st.lists(st.sampled_from(["http_get", "api_call", "wait_until"]), unique=True),
        "tool_loading": st.sampled_from(["all", "context-aware"]),
        "max_iterations": st.integers(1, 10),
        "max_credits": st.decimals(min_value="0.0001", max_value=100, places=4).map(str),
        "max_credits_month": limits,
        "temperature": st.none() | st.floats(0, 1),
        "max_tokens": st.integers(1, 4_096),
        "enabled": st.booleans(),
        "schedule": schedules,
        "approvals": rules,
    },
)
members = st.tuples(tasks, st.none() | st.integers(0, 3), st.dictionaries(tool_names, declared, max_size=2), st.booleans())
"""A task, which agent runs it, None for the default one, its declared tools by name, and whether it is without a model where
its agent has one."""

workspaces = st.fixed_dictionaries(
    {
        "settings": st.fixed_dictionaries(
            {"name": shown_names}, optional={"allowed_tools": tool_lists, "max_credits_month": limits, "approvals": rules}
        ),
        "standing": st.booleans(),
        "default_agent": st.none() | agents,
        "agents": st.lists(agents, max_size=3),
        "archived": st.sets(st.integers(0, 2), max_size=1),
        "tasks": st.lists(members, max_size=3),
    }
)


async def post(client: httpx.AsyncClient, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    answer = await client.post(path, json=body)
    assert answer.is_success, f"{path} {body}: {answer.text}"
    return dict(answer.json())


async def build(client: httpx.AsyncClient, definition: Mapping[str, Any]) -> str:
    """Make a workspace over HTTP, and return its id."""
    workspace = (await post(client, "/v1/workspaces", definition["settings"]))["workspace_id"]
    client.headers["Ferryman-Workspace"] = workspace
    agents = [await post(client, "/v1/agents", fields) for fields in definition["agents"]]
    if definition["default_agent"] is not None:
        listed = (await client.get("/v1/agents")).json()["agents"]
        (default,) = (agent["agent_id"] for agent in listed if agent["is_default"])
        changes = {name: value for name, value in definition["default_agent"].items() if name != "template"}
        assert (await client.patch(f"/v1/agents/{default}", json=changes)).is_success
    for fields, number, tools, is_agents in definition["tasks"]:
        agent = agents[number % len(agents)] if number is not None and agents else None
        fields = fields if agent is None else {**fields, "agent_id": agent["agent_id"]}
        if is_agents and agent is not None and agent["model"] is not None:
            fields = {**fields, "model": None}
        task = (await post(client, "/v1/tasks", fields))["task_id"]
        for name, tool in tools.items():
            await post(client, f"/v1/tasks/{task}/tools", {**tool, "name": name})
    for number in definition["archived"]:
        if number < len(agents):
            await post(client, f"/v1/agents/{agents[number]['agent_id']}/archive", {})
    if definition["standing"]:
        await post(client, "/v1/standing-approvals", {"tool": "http_post", "uses": 3, "expires_in_days": 7})
    del client.headers["Ferryman-Workspace"]
    return str(workspace)


async def export(client: httpx.AsyncClient, workspace: str) -> bytes:
    answer = await client.get(f"/v1/workspaces/{workspace}/export")
    assert answer.is_success, answer.text
    return answer.content


DECLARED_HERE = "tools that a person declared here"


def read_definitions(archive: bytes, *, is_imported: bool = True) -> dict[str, Counter[str]]:
    """Return how often there is each line of each kind, with names in place of ids, and without times.

    Who declared the tools is a kind of its own. Of what is not imported, rules by which nobody is asked are as they are then.
    """
    files: Files = {name: data for name, data in iterate_files(io.BytesIO(archive)) if name != MANIFEST}
    lines = {kind: read_values(files, kind) for kind in KINDS}
    for line in () if is_imported else [*lines["workspace"], *lines["agents"], *lines["tasks"]]:
        line["approvals"] = [{**rule, "mode": rule["mode"].replace("never", "when_untrusted")} for rule in line["approvals"]]
    agents = {line["id"]: repr(leave_place(line)) for line in lines["agents"]}
    for line in lines["tasks"]:
        line["agent"] = agents[line["agent"]]
    tasks = {line["id"]: repr(leave_place(line)) for line in lines["tasks"]}
    for line in lines["tools"]:
        line["task"] = tasks[line["task"]]
    declared_here = Counter(str(line["tool"].pop("is_own")) for line in lines["tools"])
    return {DECLARED_HERE: declared_here, **{kind: Counter(repr(leave_place(line)) for line in lines[kind]) for kind in KINDS}}


def leave_place(line: Mapping[str, Any]) -> list[Any]:
    return sorted((name, value) for name, value in line.items() if name not in OF_PLACE)


async def travel(definition: Mapping[str, Any]) -> list[dict[str, Counter[str]]]:
    """Return what is defined in a workspace of ann's, in bob's import of it, and in ann's import of that one."""
    stage = Stage()
    transport = httpx.ASGITransport(app=create_app(stage.deps()))
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as client:
        client.headers.update(stage.owner("ann"))
        archives = [await export(client, await build(client, definition))]
        for owner in ("bob", "ann"):
            client.headers.update(stage.owner(owner))
            imported = await import_archive(client, archives[-1])
            standing = await client.get("/v1/standing-approvals", headers={"Ferryman-Workspace": imported})
            assert standing.json()["standing_approvals"] == []
            archives.append(await export(client, imported))
    return [read_definitions(archives[0], is_imported=False), *map(read_definitions, archives[1:])]


@settings(derandomize=True, max_examples=40, deadline=None)
@given(workspaces)
def test_what_is_imported_and_exported_again_defines_the_same(definition: Mapping[str, Any]) -> None:
    first, second, third = asyncio.run(travel(definition))
    declared_here = [definitions.pop(DECLARED_HERE) for definitions in (first, second, third)]
    assert first == second == third
    # a person here declared the tools of the first; those of the others an archive brought
    declared = first["tools"].total()
    assert declared_here == [Counter({str(is_own): declared} if declared else {}) for is_own in (True, False, False)]
    assert first["tasks"].total() == len(definition["tasks"])
    assert first["tools"].total() == sum(len(tools) for _, _, tools, _ in definition["tasks"])
