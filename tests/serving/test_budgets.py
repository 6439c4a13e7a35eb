"""Budgets over HTTP: the caps of the workspace, and statements by what the expenses were for."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import httpx

from ferryman.domain.credits.balance import CreditBalance, CreditPart
from ferryman.domain.credits.ledger import record_turn
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import build_default_workspace
from tests.builders import START, build_execution
from tests.domain.test_alert_message import ALERT
from tests.domain.test_conversation_balance import STORED
from tests.domain.test_statement import FEE

from .conftest import TASK, Stage

HOOK = "https://hooks.example.com/a"
DEFAULT = derive_default_workspace("ann")
USED = CreditPart(credits_used=Decimal(30), credits_reserved=Decimal(5))


async def test_the_owner_sees_the_plan_the_workspace_and_what_was_used_in_it(client: httpx.AsyncClient, stage: Stage) -> None:
    task = (await client.post("/v1/tasks", json={**TASK, "max_credits_month": "60"})).json()
    stage.memory.balances["owner:ann"] = CreditBalance(
        id="owner:ann",
        month="2026-11",
        credits_used=Decimal(80),
        credits_reserved=Decimal(5),
        parts={f"workspace:{DEFAULT}": USED, f"task:{task['task_id']}": USED, f"person:{DEFAULT}/pat": USED, "task:gone": USED},
    )
    answer = (await client.get("/v1/budget")).json()
    assert answer["month"] == "2026-11"
    rows = {row["kind"]: row for row in answer["budgets"]}
    assert [row["kind"] for row in answer["budgets"]] == ["owner", "workspace", "task"]
    assert (rows["owner"]["limit"], rows["owner"]["credits_used"], rows["owner"]["credits_left"]) == ("55000", "80", "54915")
    assert (rows["workspace"]["limit"], rows["workspace"]["credits_used"]) == (None, "30")
    assert (rows["task"]["credits_left"], rows["task"]["percent_used"]) == ("25", 50)


async def test_a_member_sees_the_rows_of_the_workspace_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.VIEWER)
    here, person = list(stage.memory.memberships)[-1]
    member = stage.memory.memberships[here, person]
    stage.memory.memberships[here, person] = replace(member, max_credits_month=Decimal(40))
    agent = replace(build_default_agent("ann", here), id="agent_1", name="Eve", max_credits_month=Decimal(90))
    stage.memory.agents["agent_1"] = agent
    stage.memory.balances["owner:ann"] = CreditBalance(
        id="owner:ann",
        month="2026-11",
        credits_used=Decimal(80),
        parts={"agent:agent_1": USED, f"person:{here}/{person}": USED, "workspace:ws_ann": USED},
    )
    rows = (await client.get("/v1/budget", headers=headers)).json()["budgets"]
    assert [(row["kind"], row["id"], row["name"], row["limit"], row["credits_left"]) for row in rows] == [
        ("agent", "agent_1", "Eve", "90", "55"),
        ("person", f"{here}/{person}", "Person 1", "40", "5"),
    ]


async def test_a_member_is_told_nothing_of_what_other_workspaces_use(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.VIEWER)
    before = (await client.get("/v1/me", headers=headers)).json()
    stage.memory.balances["owner:ann"] = CreditBalance(
        id="owner:ann", month="2026-11", credits_used=Decimal(80), parts={"workspace:ws_ann": USED}
    )
    assert (await client.get("/v1/me", headers=headers)).json() == before
    assert (await client.get("/v1/me")).json()["credits_used"] == "80"


async def test_a_member_has_left_what_the_cap_of_the_workspace_leaves(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.VIEWER, workspace="ws_ann")
    stage.memory.workspaces["ws_ann"] = replace(stage.memory.workspaces["ws_ann"], max_credits_month=Decimal(50))
    stage.memory.balances["owner:ann"] = CreditBalance(id="owner:ann", month="2026-11", parts={"workspace:ws_ann": USED})
    me = (await client.get("/v1/me", headers=headers)).json()
    assert (me["credits_used"], me["credits_reserved"], me["credits_left"]) == ("30", "5", "15")


async def test_only_the_owner_s_own_key_is_told_of_the_plan_and_of_all_workspaces(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    headers = stage.member(Role.ADMIN)
    for path in ("/v1/alerts?of=plan", "/v1/ledger?by=workspace"):
        refused = await client.get(path, headers=headers)
        assert (refused.status_code, "owner's own key" in refused.text) == (403, True)


async def test_a_month_that_is_over_counts_no_more(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.balances["owner:ann"] = CreditBalance(id="owner:ann", month="2026-10", credits_used=Decimal(80))
    answer = (await client.get("/v1/budget")).json()
    assert (answer["month"], answer["budgets"][0]["credits_used"]) == ("2026-11", "0")


async def test_a_statement_sums_up_by_task_agent_person_or_workspace(client: httpx.AsyncClient, stage: Stage) -> None:
    here = build_execution(id="e1", owner="ann", agent="eve", person="pat")
    other = replace(here, id="e2", workspace="ws_other", agent="wally", person="")
    for execution, tokens in ((here, "3"), (other, "4")):
        entry = record_turn(execution, 1, tokens=Decimal(tokens), calls=[FEE], at=START)
        assert entry is not None
        stage.memory.entries[entry.id] = entry

    async def read(by: str) -> list[tuple[str, str]]:
        return [(line["id"], line["credits"]) for line in (await client.get("/v1/ledger", params={"by": by})).json()["lines"]]

    assert await read("task") == [("t", "3.5")]
    assert await read("agent") == [("eve", "3.5")]
    assert await read("person") == [("pat", "3.5")]
    assert await read("workspace") == [("ws_other", "4.5"), (DEFAULT, "3.5")]


async def test_a_grouping_that_there_is_not_is_refused_by_name(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/ledger", params={"by": "moon"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "by")


async def test_the_alerts_of_the_workspace_are_listed_and_those_of_the_plan_apart(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    for name, workspace in (("alert_1", DEFAULT), ("alert_2", "ws_other"), ("alert_3", "")):
        stage.memory.alerts[name] = replace(ALERT, id=name, owner="ann", workspace=workspace)
    here = (await client.get("/v1/alerts")).json()["alerts"]
    assert [(alert["alert_id"], alert["percent"], alert["state"]) for alert in here] == [("alert_1", 80, "pending")]
    plan = (await client.get("/v1/alerts", params={"of": "plan"})).json()["alerts"]
    assert [alert["alert_id"] for alert in plan] == ["alert_3"]
    assert (await client.get("/v1/alerts", headers=stage.owner("bob"))).json()["alerts"] == []


async def test_the_secret_of_alerts_is_told_once_where_their_address_is_set(client: httpx.AsyncClient, stage: Stage) -> None:
    created = (await client.post("/v1/workspaces", json={"name": "Kitchen", "alert_url": HOOK})).json()
    workspace = f"/v1/workspaces/{created['workspace_id']}"
    first = created["alert_secret"]
    assert first.startswith("whsec_")
    assert (await client.get(workspace)).json()["alert_secret"] is None
    assert (await client.patch(workspace, json={"name": "Galley"})).json()["alert_secret"] is None
    again = (await client.patch(workspace, json={"alert_url": HOOK})).json()["alert_secret"]
    assert again not in (first, None)
    sealed = stage.memory.credentials[created["workspace_id"]]["ALERT_SECRET"]
    assert again.encode() not in sealed.ciphertext
    assert (sealed.label.task, sealed.label.hosts) == (created["workspace_id"], ("hooks.example.com",))


async def test_without_an_address_there_is_no_secret(client: httpx.AsyncClient, stage: Stage) -> None:
    created = (await client.post("/v1/workspaces", json={"name": "Kitchen", "alert_url": HOOK})).json()
    changed = (await client.patch(f"/v1/workspaces/{created['workspace_id']}", json={"alert_url": None})).json()
    assert (changed["alert_url"], changed["alert_secret"]) == (None, None)
    assert stage.memory.credentials[created["workspace_id"]] == {}


async def test_the_conversations_that_used_anything_this_month_are_shown_with_the_lower_limit(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    agent = replace(build_default_agent("ann", DEFAULT), id="agent_1", conversation_credits_max=Decimal(50))
    workspace = replace(build_default_workspace("ann"), conversation_credits_max=Decimal(40))
    stage.memory.agents["agent_1"], stage.memory.workspaces[DEFAULT] = agent, workspace
    here = replace(STORED, id="agent_1.talk", owner="ann", workspace=DEFAULT, agent="agent_1")
    others = {"over": {"month": "2026-10", "credits_reserved": Decimal(0)}, "away": {"workspace": "ws_other"}}
    stored = [here, *(replace(here, id=f"agent_1.{name}", conversation=name, **change) for name, change in others.items())]
    stage.memory.conversation_balances.update((balance.id, balance) for balance in stored)
    rows = (await client.get("/v1/budget")).json()["budgets"]
    assert [row for row in rows if row["kind"] == "conversation"] == [
        {
            **{"kind": "conversation", "id": "agent_1/talk", "name": "talk", "limit": "40"},
            **{"credits_used": "30", "credits_reserved": "20", "credits_left": "0"},
            **{"percent_used": 75},
        }
    ]
