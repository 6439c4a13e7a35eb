"""subscriptions/listen: acknowledged first, filtered, named, and ended by a result."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from ferryman.domain.mcp_revisions import SUBSCRIPTION_ID
from ferryman.serving.mcp import McpExchange, Notification, Subscription

from .client import Client
from .servers import Stage

TOOLS = Notification("notifications/tools/list_changed")
PROMPTS = Notification("notifications/prompts/list_changed")


def name_task(name: str) -> Notification:
    return Notification("notifications/tasks", {"taskId": name, "status": "working"})


async def test_the_first_message_says_what_is_granted(client: Client, stage: Stage) -> None:
    wanted_news = {"toolsListChanged": True, "promptsListChanged": True, "taskIds": ["t1", "t1"]}
    posting = client.begin("subscriptions/listen", {"notifications": wanted_news})
    (message,) = await posting.wait_for(1)
    assert message["method"] == "notifications/subscriptions/acknowledged"
    assert message["params"]["notifications"] == {"toolsListChanged": True, "taskIds": ["t1"]}
    await posting.leave()


async def test_only_what_was_granted_is_sent_and_each_message_names_its_subscription(client: Client, stage: Stage) -> None:
    for notification in (PROMPTS, name_task("t2"), TOOLS, name_task("t1"), None):
        stage.news.put_nowait(notification)
    asking = {"notifications": {"toolsListChanged": True, "taskIds": ["t1"]}}
    answer = await client.call("subscriptions/listen", asking)
    methods = [message.get("method") for message in answer.messages]
    assert methods == ["notifications/subscriptions/acknowledged", TOOLS.method, "notifications/tasks", None]
    names = {message.get("params", message.get("result"))["_meta"][SUBSCRIPTION_ID] for message in answer.messages}
    assert names == {answer.messages[-1]["id"]}
    assert answer.result["resultType"] == "complete"


async def test_a_client_that_leaves_ends_its_subscription(client: Client, stage: Stage) -> None:
    posting = client.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    await posting.wait_for(1)
    await posting.leave()
    assert stage.ended == ["listening"]


async def test_a_subscription_ends_gracefully_when_its_time_is_over(client: Client) -> None:
    client.server = Stage(listen_s_max=0.0).server
    answer = await client.call("subscriptions/listen", {"notifications": {}})
    assert answer.result["resultType"] == "complete"


async def test_tasks_are_for_clients_that_declare_the_extension(plain: Client) -> None:
    answer = await plain.call("subscriptions/listen", {"notifications": {"taskIds": ["t1"]}})
    assert (answer.status, answer.code) == (400, -32021)


@pytest.mark.parametrize(
    "notifications",
    [None, [], {"toolsListChanged": "yes"}, {"taskIds": "t1"}, {"taskIds": [1]}, {"resourceSubscriptions": ["a"] * 101}],
)
async def test_a_filter_of_other_types_is_refused(client: Client, notifications: Any) -> None:
    answer = await client.call("subscriptions/listen", {"notifications": notifications})
    assert (answer.status, answer.code) == (400, -32602)


async def test_a_client_that_takes_no_stream_cannot_listen(client: Client) -> None:
    answer = await client.call("subscriptions/listen", {"notifications": {}}, accept="application/json")
    assert answer.status == 406


async def test_a_server_that_announces_nothing_does_not_have_the_method(plain: Client) -> None:
    plain.server = Stage(listen=None).server
    assert (await plain.call("subscriptions/listen", {"notifications": {}})).code == -32601


async def test_a_subscription_that_fails_ends_with_an_error(client: Client) -> None:
    async def watch() -> AsyncGenerator[Notification, None]:
        yield TOOLS
        raise RuntimeError("secret")

    async def listen(_: McpExchange, filter_: Any) -> Subscription:
        return Subscription(filter_, watch())

    client.server = Stage(listen=listen).server
    answer = await client.call("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    assert ([message.get("method") for message in answer.messages[1:]], answer.code) == ([TOOLS.method, None], -32603)
    assert b"secret" not in answer.body
