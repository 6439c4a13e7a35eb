"""Calls that wait for a person, through /mcp: a link and a signed state. Nothing that a client sends decides about any."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.approvals.approval import LIFETIME, Approval, ApprovalState, derive_approval_id
from ferryman.domain.approvals.decision import Decision, DecisionVerdict, SignedDecision, encode_decision
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.labels.label import OWNED
from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.workspaces.member import Role
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.serving.mcp.states import LIFETIME as STATE_LIFETIME
from tests.serving.people_mcp.stage import TASKS, URL, McpClient, McpStage

ARGUMENTS = {"url": "https://api.coingecko.com/orders", "body": {"amount": 100}}
ANSWERS = (
    {"action": "accept"},
    {"action": "accept", "content": {"approve": True, "verdict": "approve"}},
    {"action": "decline"},
)


@pytest.fixture(autouse=True)
def asks(people: McpStage) -> None:
    """Have each call wait for a person."""

    def answer(ticket: Ticket) -> ToolCallResult | Approval:
        approval = people.memory.approvals.get(ticket.approval)
        if approval is None:
            return build_approval(people, ticket)
        if approval.state is ApprovalState.DENIED:
            return ToolCallResult.from_refusal(ticket.tool, refusal.refuse_denied("no"))
        if approval.state is ApprovalState.APPROVED:
            return ToolCallResult(ticket.tool, "sent")
        return approval

    people.orchestrator.on_call = answer


def build_approval(people: McpStage, ticket: Ticket) -> Approval:
    execution = next(item for item in people.memory.executions.values() if item.called_tool and not item.status.terminal)
    now = people.clock.now()
    digest = f"digest of {execution.id}"
    return Approval(
        id=derive_approval_id(execution.id, ticket.seq, digest),
        owner=execution.owner,
        workspace=execution.workspace,
        agent=execution.agent,
        task=execution.task,
        conversation="",
        execution=execution.id,
        seq=ticket.seq,
        tool=ticket.tool,
        form=json.dumps(dict(ticket.display_arguments)),
        digest=digest,
        label=OWNED,
        created_at=now,
        expires_at=now + LIFETIME,
    )


async def decide(people: McpStage, verdict: DecisionVerdict = DecisionVerdict.APPROVE) -> None:
    """Decide as a person does, at the page or with the command line, and have the execution go on."""
    (approval,) = [item for item in people.memory.approvals.values() if item.state is ApprovalState.PENDING]
    place = {"owner": approval.owner, "workspace": approval.workspace, "execution": approval.execution, "seq": approval.seq}
    decision = Decision(
        approval=approval.id,
        digest=approval.digest,
        **place,
        verdict=verdict,
        sends_max=1 if verdict is DecisionVerdict.APPROVE else 0,
        by="pat",
        at=people.clock.now(),
    )
    signed = SignedDecision(decision=decision, key=1, signature=encode_decision(decision).hex())
    await MemoryApprovals(people.memory).decide(signed, now=people.clock.now())
    execution = people.memory.executions[approval.execution]
    await people.queue.enqueue(execution.id, slice=execution.slice, wake_up="decision")
    await people.settle()


async def ask(client: McpClient, **params: Any) -> Any:
    return (await client.call_tool("http_post", ARGUMENTS, **params)).result


async def test_a_call_that_waits_asks_the_client_to_open_the_page_where_a_person_decides(people: McpStage) -> None:
    result = await ask(people.client(capabilities=URL))
    (approval,) = [item for item in people.memory.approvals.values() if item.state is ApprovalState.PENDING]
    (key, asking), *others = result["inputRequests"].items()
    assert (result["resultType"], key, others) == ("input_required", approval.id, [])
    assert (asking["method"], asking["params"]["mode"]) == ("elicitation/create", "url")
    assert asking["params"]["url"] == f"https://127.0.0.1:80/console/approvals/{approval.id}"


async def test_the_retry_has_the_result_once_it_is_approved(people: McpStage) -> None:
    client = people.client(capabilities=URL)
    waiting = await ask(client)
    await decide(people)
    result = await ask(client, requestState=waiting["requestState"])
    assert (result["resultType"], result["content"][0]["text"]) == ("complete", "sent")
    assert len([item for item in people.memory.executions.values() if item.called_tool]) == 1


async def test_the_retry_has_the_refusal_once_it_is_denied(people: McpStage) -> None:
    client = people.client(capabilities=URL)
    waiting = await ask(client)
    await decide(people, DecisionVerdict.DENY)
    result = await ask(client, requestState=waiting["requestState"])
    assert (result["isError"], result["structuredContent"]["ok"]) == (True, False)


@pytest.mark.parametrize("answered", ANSWERS)
async def test_what_the_client_answers_decides_nothing(people: McpStage, answered: dict[str, Any]) -> None:
    client = people.client(capabilities=URL)
    waiting = await ask(client)
    (key,) = waiting["inputRequests"]
    again = await ask(client, requestState=waiting["requestState"], inputResponses={key: answered})
    assert (again["resultType"], list(again["inputRequests"])) == ("input_required", [key])
    assert people.memory.approvals[key].state is ApprovalState.PENDING


@pytest.mark.parametrize("answered", ANSWERS)
async def test_an_update_of_a_task_is_acknowledged_and_decides_nothing(people: McpStage, answered: dict[str, Any]) -> None:
    client = people.client(capabilities={**URL, **TASKS})
    created = await ask(client)
    polled = (await client.call("tasks/get", {"taskId": created["taskId"]})).result
    (key,) = polled["inputRequests"]
    params = {"taskId": created["taskId"], "inputResponses": {key: answered}}
    assert (await client.call("tasks/update", params)).result["resultType"] == "complete"
    again = (await client.call("tasks/get", {"taskId": created["taskId"]})).result
    assert (again["status"], list(again["inputRequests"])) == ("input_required", [key])
    assert people.memory.approvals[key].state is ApprovalState.PENDING


async def test_a_task_goes_on_once_a_person_has_decided(people: McpStage) -> None:
    client = people.client(capabilities={**URL, **TASKS})
    created = await ask(client)
    await decide(people)
    polled = (await client.call("tasks/get", {"taskId": created["taskId"]})).result
    assert (polled["status"], polled["result"]["content"][0]["text"]) == ("completed", "sent")


async def test_a_client_that_opens_no_pages_reads_where_a_person_decides(people: McpStage) -> None:
    result = await ask(people.client())
    about = result["structuredContent"]
    assert (result["resultType"], about["status"], about["ok"]) == ("complete", "waiting", None)
    assert about["approval_url"] in result["content"][0]["text"]
    assert about["execution_id"] in result["content"][0]["text"]
    await decide(people)
    picked = (await people.client().call_tool("get_execution", {"execution_id": about["execution_id"]})).result
    assert picked["content"][0]["text"] == "sent"


async def test_a_task_of_a_client_that_opens_no_pages_works_and_says_where(people: McpStage) -> None:
    client = people.client(capabilities=TASKS)
    created = await ask(client)
    polled = (await client.call("tasks/get", {"taskId": created["taskId"]})).result
    assert polled["status"] == "working"
    assert "/console/approvals/appr_" in polled["statusMessage"]


async def test_a_client_of_2025_reads_where_a_person_decides(people: McpStage) -> None:
    client = people.client(capabilities=URL)
    await client.initialize()
    result = (await client.call_old("tools/call", {"name": "http_post", "arguments": ARGUMENTS})).result
    assert result["structuredContent"]["status"] == "waiting"


async def test_a_state_is_refused_to_others_to_other_requests_and_once_it_is_old(people: McpStage) -> None:
    client = people.client(capabilities=URL)
    state = (await ask(client))["requestState"]
    others = [
        (people.client(people.owner("bob"), capabilities=URL), "http_post", ARGUMENTS),
        (people.client(people.member(), capabilities=URL), "http_post", ARGUMENTS),
        (client, "http_post", {**ARGUMENTS, "body": {"amount": 1_000_000}}),
        (client, "http_get", {"url": ARGUMENTS["url"]}),
    ]
    for other, name, arguments in others:
        assert (await other.call_tool(name, arguments, requestState=state)).code == ErrorCode.INVALID_PARAMS
    for index in range(0, len(state), 7):
        changed = state[:index] + ("A" if state[index] != "A" else "B") + state[index + 1 :]
        assert (await client.call_tool("http_post", ARGUMENTS, requestState=changed)).code == ErrorCode.INVALID_PARAMS
    people.clock.turn((STATE_LIFETIME + timedelta(seconds=1)).total_seconds())
    assert (await client.call_tool("http_post", ARGUMENTS, requestState=state)).code == ErrorCode.INVALID_PARAMS
    assert len([item for item in people.memory.executions.values() if item.called_tool]) == 1


async def test_a_state_of_an_execution_that_is_gone_leads_nowhere(people: McpStage) -> None:
    client = people.client(capabilities=URL)
    state = (await ask(client))["requestState"]
    people.memory.executions.clear()
    assert (await client.call_tool("http_post", ARGUMENTS, requestState=state)).code == ErrorCode.INVALID_PARAMS


async def test_a_state_gives_no_right_that_the_key_has_lost(people: McpStage) -> None:
    member = people.member(Role.OPERATOR)
    client = people.client(member, capabilities=URL)
    state = (await ask(client))["requestState"]
    place, membership = next(
        item for item in people.memory.memberships.items() if item[1].role is Role.OPERATOR and item[0][1] != "person_ann"
    )
    people.memory.memberships[place] = replace(membership, role=Role.VIEWER)
    assert (await client.call_tool("http_post", ARGUMENTS, requestState=state)).status == 403


async def test_no_request_can_approve_whatever_its_keys_scopes(people: McpStage) -> None:
    """Every method of the server, by the owner's own key, with everything that a decision is made of."""
    client = people.client(capabilities={**URL, **TASKS})
    created = await ask(client)
    (approval,) = [item for item in people.memory.approvals.values() if item.state is ApprovalState.PENDING]
    decision = {"verdict": "approve", "digest": approval.digest, "sends": 1, "approval_id": approval.id}
    params = {
        "taskId": created["taskId"],
        "inputResponses": {approval.id: {"action": "accept", "content": decision}},
        "name": "http_post",
        "arguments": ARGUMENTS,
        "uri": f"ferryman://approvals/{approval.id}",
        "ref": {"type": "ref/prompt", "name": approval.id},
        "argument": {"name": "verdict", "value": "approve"},
        **decision,
    }
    people.queue.is_open = False
    for method in [
        *client.server.methods,
        *client.server.legacy_methods,
        "approvals/decide",
        "notifications/elicitation/complete",
    ]:
        await client.call(method, params)
    for tool in [item["name"] for item in (await client.call("tools/list")).result["tools"]]:
        await client.call_tool(
            tool, {**decision, "execution_id": created["taskId"], "task_id": approval.id, "message": "approve"}
        )
    assert people.memory.approvals[approval.id].decided is None
    assert people.memory.executions[created["taskId"]].status in (Status.RUNNING, Status.KILLED)
