"""Executions as tasks of the Tasks extension: created durably, polled, watched, cancelled, and nobody else's."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from ferryman.domain.executions.execution import Status
from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.workspaces.member import Role
from ferryman.inmemory.model import ScriptedModel
from tests.loop.conftest import says
from tests.serving.people_mcp.stage import TASKS, McpClient, McpStage

URL = "https://api.coingecko.com/0"


async def begin(people: McpStage) -> tuple[McpClient, str]:
    """Return a client that takes tasks, and the task that its call of a tool became, of which nothing was delivered."""
    people.answer_wait_s, people.queue.is_open = 0.02, False
    client = people.client(capabilities=TASKS)
    created = (await client.call_tool("http_get", {"url": URL})).result
    assert (created["resultType"], created["status"]) == ("task", "working")
    return client, created["taskId"]


async def test_what_ends_in_a_moment_is_a_result(people: McpStage) -> None:
    answer = await people.client(capabilities=TASKS).call_tool("http_get", {"url": URL})
    assert (answer.result["resultType"], answer.result["content"][0]["text"]) == ("complete", "42")


async def test_what_takes_longer_is_a_task_that_was_stored_before(people: McpStage) -> None:
    _, task = await begin(people)
    assert people.memory.executions[task].called_tool == "http_get"


async def test_its_result_is_that_of_the_call(people: McpStage) -> None:
    client, task = await begin(people)
    people.queue.deliver()
    await people.settle()
    polled = (await client.call("tasks/get", {"taskId": task})).result
    assert (polled["resultType"], polled["status"], polled["result"]["content"][0]["text"]) == ("complete", "completed", "42")


async def test_a_failed_call_is_a_completed_task_with_an_error_in_its_result(people: McpStage) -> None:
    client, task = await begin(people)
    people.answer("Error: no", ok=False, code="not_found")
    people.queue.deliver()
    await people.settle()
    polled = (await client.call("tasks/get", {"taskId": task})).result
    assert (polled["status"], polled["result"]["isError"]) == ("completed", True)


async def test_a_task_lasts_as_long_as_its_execution_is_kept(people: McpStage) -> None:
    client, task = await begin(people)
    days = people.memory.executions[task].retention_days or people.deps().retention_days
    polled = (await client.call("tasks/get", {"taskId": task})).result
    assert polled["ttlMs"] == days * 86_400_000
    people.memory.executions[task] = replace(people.memory.executions[task], retention_days=0)
    assert (await client.call("tasks/get", {"taskId": task})).result["ttlMs"] is None


async def test_a_cancelled_one_is_not_made(people: McpStage) -> None:
    client, task = await begin(people)
    assert (await client.call("tasks/cancel", {"taskId": task})).result["resultType"] == "complete"
    people.queue.deliver()
    await people.settle()
    assert (await client.call("tasks/get", {"taskId": task})).result["status"] == "cancelled"
    assert people.orchestrator.executed == []


async def test_unknown_and_foreign_tasks_are_answered_alike(people: McpStage) -> None:
    _, task = await begin(people)
    stranger = people.client(people.owner("bob"), capabilities=TASKS)
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        answers = [
            await stranger.call(method, {"taskId": name, "inputResponses": {}})
            for name in (task, "exec_unknown", "../x", "e" * 65)
        ]
        assert {(answer.status, answer.code, answer.error["message"]) for answer in answers} == {
            (400, ErrorCode.INVALID_PARAMS, "there is no such task")
        }
    assert people.memory.executions[task].status is Status.QUEUED


async def test_a_viewer_polls_and_cannot_cancel(people: McpStage) -> None:
    _, task = await begin(people)
    viewer = people.client(people.member(Role.VIEWER), capabilities=TASKS)
    assert (await viewer.call("tasks/get", {"taskId": task})).result["status"] == "working"
    assert (await viewer.call("tasks/cancel", {"taskId": task})).status == 403


async def test_a_client_that_does_not_declare_tasks_has_no_methods_of_tasks(people: McpStage) -> None:
    _, task = await begin(people)
    assert (await people.client().call("tasks/get", {"taskId": task})).code == ErrorCode.MISSING_CAPABILITY


async def test_a_subscription_tells_of_each_change_and_ends_with_the_last(people: McpStage) -> None:
    client, task = await begin(people)
    listening = client.begin("subscriptions/listen", {"notifications": {"taskIds": [task, "exec_other"]}})
    (acknowledged,) = await listening.wait_for(1)
    assert acknowledged["params"]["notifications"] == {"taskIds": [task]}
    people.queue.deliver()
    messages = (await listening.finish()).messages
    reports = [message["params"]["status"] for message in messages if message.get("method") == "notifications/tasks"]
    assert (reports[0], reports[-1]) == ("working", "completed")


async def test_a_subscription_follows_no_more_than_twenty_tasks(people: McpStage) -> None:
    client, task = await begin(people)
    names = [f"exec_more_{number}" for number in range(21)]
    people.memory.executions.update({name: replace(people.memory.executions[task], id=name) for name in names})
    listening = client.begin("subscriptions/listen", {"notifications": {"taskIds": names}})
    (acknowledged,) = await listening.wait_for(1)
    await listening.leave()
    assert acknowledged["params"]["notifications"] == {"taskIds": names[:20]}


async def test_a_client_that_leaves_a_subscription_to_many_tasks_leaves_nothing_that_runs(people: McpStage) -> None:
    client, task = await begin(people)
    names = [f"exec_more_{number}" for number in range(20)]
    people.memory.executions.update({name: replace(people.memory.executions[task], id=name) for name in names})
    listening = client.begin("subscriptions/listen", {"notifications": {"taskIds": names}})
    await listening.wait_for(1)
    async with asyncio.timeout(5):
        await listening.leave()


async def test_a_subscription_to_anothers_task_tells_nothing(people: McpStage) -> None:
    _, task = await begin(people)
    stranger = people.client(people.owner("bob"), capabilities=TASKS)
    listening = stranger.begin("subscriptions/listen", {"notifications": {"taskIds": [task]}})
    (acknowledged,) = await listening.wait_for(1)
    assert acknowledged["params"]["notifications"].get("taskIds", []) == []
    people.queue.deliver()
    await people.settle()
    await listening.leave()
    assert len(listening.answer.messages) == 1


async def test_a_revoked_key_is_told_nothing_more(people: McpStage) -> None:
    client, task = await begin(people)
    listening = client.begin("subscriptions/listen", {"notifications": {"taskIds": [task]}})
    await listening.wait_for(2)
    people.memory.keys.clear()
    people.queue.deliver()
    messages = (await listening.finish()).messages
    assert [message["params"]["status"] for message in messages if message.get("method") == "notifications/tasks"] == [
        "working"
    ]


async def test_the_task_of_conversations_is_not_run(people: McpStage) -> None:
    answer = await people.client().call_tool("run_task", {"task_id": people.chat_task.id, "input": "Do as the page says."})
    assert (answer.code, answer.error["message"]) == (ErrorCode.INVALID_PARAMS, "there is no such task")
    assert people.memory.executions == {}


async def test_a_stored_task_is_run_and_its_answer_returned(people: McpStage) -> None:
    stored = replace(people.chat_task, id="task_report", name="report", model="scripted/x")
    people.memory.tasks[stored.id] = stored
    people.orchestrator.model = ScriptedModel([says("Done.")])
    client = people.client()
    listed = (await client.call_tool("list_tasks")).result["structuredContent"]["tasks"]
    assert [task["task_id"] for task in listed] == ["task_report"]  # and not that of the conversations
    answer = (await client.call_tool("run_task", {"task_id": stored.id, "input": "Go."})).result
    assert (answer["content"][0]["text"], answer["structuredContent"]["integrity"]) == ("Done.", "untrusted")
    execution = people.memory.executions[answer["structuredContent"]["execution_id"]]
    assert people.memory.openings[execution.id].is_prompt_foreign


async def test_a_task_of_another_workspace_is_not_there(people: McpStage) -> None:
    stranger = people.client(people.owner("bob"))
    people.memory.tasks["task_report"] = replace(people.chat_task, id="task_report")
    answer = await stranger.call_tool("run_task", {"task_id": "task_report"})
    assert (answer.status, answer.error["message"]) == (400, "there is no such task")


async def test_a_question_that_is_refused_begins_no_conversation(people: McpStage) -> None:
    people.change_chat_task(model="scripted/x")
    people.answer_wait_s, people.queue.is_open = 0.0, False
    client, before = people.client(), len(people.memory.conversations)
    statuses = [(await client.call_tool("ask_agent", {"message": "Hello?"})).status for _ in range(12)]
    assert (statuses.count(200), statuses.count(429)) == (10, 2)
    assert len(people.memory.conversations) - before == 10


async def test_a_conversation_goes_on_from_another_client(people: McpStage) -> None:
    people.change_chat_task(model="scripted/x")
    people.orchestrator.model = ScriptedModel([says("In Harwich."), says("At nine.")])
    first = (await people.client().call_tool("ask_agent", {"message": "Where is the ferry?"})).result
    about = first["structuredContent"]
    other = people.client(people.member())
    second = await other.call_tool("ask_agent", {"message": "When?", "conversation_id": about["conversation_id"]})
    assert second.result["content"][0]["text"] == "At nine."
    messages = people.memory.messages[about["conversation_id"]]
    assert [messages[number].content for number in (1, 2, 3, 4)] == ["Where is the ferry?", "In Harwich.", "When?", "At nine."]
    assert messages[1].label.integrity.value == "untrusted"
