"""What a subscription is granted, and what it tells of changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.tools.declared import build_cluster
from ferryman.serving.api.mcp import listening
from ferryman.serving.api.mcp.resources import name_resource
from tests.serving.mcp.client import Client
from tests.serving.people_mcp.stage import McpClient, McpStage
from tests.serving.people_mcp.test_declared import PRICE, declare

ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


@pytest.fixture
def people(people: McpStage, monkeypatch: pytest.MonkeyPatch) -> McpStage:
    monkeypatch.setattr(listening, "LOOK_S", 0.001)
    monkeypatch.setattr(listening, "CHECK_S", 0.001)
    return people


async def write(people: McpStage, key: str, content: bytes) -> None:
    await people.files.write(people.workspace, key, content, content_type="text/plain", write=f"w{len(content)}")


async def read_granted(client: Client, asking: dict[str, object]) -> object:
    posting = client.begin("subscriptions/listen", {"notifications": asking})
    messages = await posting.wait_for(1)
    await posting.leave()
    return messages[0]["params"]["notifications"]


async def test_lists_and_files_are_granted_and_what_is_no_file_is_not(people: McpStage) -> None:
    uri = name_resource("a.md")
    granted = await read_granted(people.client(), {**ALL, "resourceSubscriptions": ["file:///etc/passwd", uri]})
    assert granted == {**ALL, "resourceSubscriptions": [uri]}


async def test_no_more_than_twenty_files_are_granted(people: McpStage) -> None:
    uris = [name_resource(f"{number}.md") for number in range(21)]
    assert await read_granted(people.client(), {"resourceSubscriptions": uris}) == {"resourceSubscriptions": uris[:20]}


async def test_a_tool_that_is_taken_away_is_told(people: McpStage) -> None:
    posting = people.client().begin("subscriptions/listen", {"notifications": ALL})
    await posting.wait_for(1)
    people.memory.agents[people.agent.id] = replace(people.agent, tools_enabled=False)
    assert (await posting.wait_for(2))[1]["method"] == "notifications/tools/list_changed"
    await posting.leave()


async def test_a_new_task_is_told(people: McpStage) -> None:
    posting = people.client().begin("subscriptions/listen", {"notifications": ALL})
    await posting.wait_for(1)
    people.memory.tasks["task_1"] = replace(people.chat_task, id="task_1")
    assert (await posting.wait_for(2))[1]["method"] == "notifications/prompts/list_changed"
    await posting.leave()


async def test_a_new_file_is_told(people: McpStage) -> None:
    posting = people.client().begin("subscriptions/listen", {"notifications": ALL})
    await posting.wait_for(1)
    await write(people, "a.md", b"1")
    assert (await posting.wait_for(2))[1]["method"] == "notifications/resources/list_changed"
    await posting.leave()


async def test_another_content_of_a_file_that_is_followed_is_told_with_its_uri(people: McpStage) -> None:
    uri = name_resource("a.md")
    posting = people.client().begin("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}})
    await posting.wait_for(1)
    await write(people, "a.md", b"1")
    updated = (await posting.wait_for(2))[1]
    assert (updated["method"], updated["params"]["uri"]) == ("notifications/resources/updated", uri)
    await posting.leave()


async def test_it_ends_where_the_key_is_revoked(people: McpStage) -> None:
    posting = people.client().begin("subscriptions/listen", {"notifications": ALL})
    await posting.wait_for(1)
    people.memory.keys.clear()
    people.clock.turn(1)
    answer = await posting.finish()
    assert answer.messages[-1]["result"]["resultType"] == "complete"


async def test_it_counts_among_the_streams_that_its_owner_has_open(people: McpStage) -> None:
    most = people.deps().plans["pro"].streams
    postings = [people.client().begin("subscriptions/listen", {"notifications": ALL}) for _ in range(most)]
    for posting in postings:
        await posting.wait_for(1)
    refused = await people.client().call("subscriptions/listen", {"notifications": ALL})
    assert (refused.status, refused.code) == (429, 429)
    for posting in postings:
        await posting.leave()
    posting = people.client().begin("subscriptions/listen", {"notifications": ALL})
    await posting.wait_for(1)
    await posting.leave()


async def test_a_declared_tool_that_is_stored_again_is_announced(people: McpStage) -> None:
    posting = people.client().begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    await posting.wait_for(1)
    cluster = build_cluster("prices", 1, (PRICE,))
    people.memory.clusters[people.chat_task.id] = {"prices": (cluster, (PRICE,))}
    assert (await posting.wait_for(2))[1]["method"] == "notifications/tools/list_changed"
    await posting.leave()


async def test_no_declared_tool_is_read_to_look_for_changes(people: McpStage) -> None:
    declare(people, *(replace(PRICE, name=f"getPrice{number}") for number in range(3)))
    deps = people.deps()

    async def read(task: str) -> object:
        raise AssertionError(f"all tools of {task} were read")

    deps.clusters.tools = read  # type: ignore[method-assign,assignment] # whatever reads them is found
    granted = {"toolsListChanged": True}
    posting = McpClient(deps, people.headers, {}).begin("subscriptions/listen", {"notifications": granted})
    await posting.wait_for(1)
    people.memory.agents[people.agent.id] = replace(people.agent, tools_enabled=False)
    assert (await posting.wait_for(2))[1]["method"] == "notifications/tools/list_changed"
    await posting.leave()
