"""Two people in a workspace, from the invitation to the receipt of its deletion, by what they type at their terminals.

Ada is its admin and Vic looks on. The story is played once; each test tells one thing that came of it.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ferryman.stack import provision
from ferryman.stack.admin import Admin
from ferryman.stack.hello import ANSWER
from tests.journeys.conftest import KEY, asks, call, create_owner, says
from tests.journeys.terminal import Terminal

Story = dict[str, Any]
WAITS = "two-people-waits"


@pytest.fixture(scope="module")
def story(stack: Mapping[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Story:
    """What came of each thing that somebody typed, by name, and everything that was seen."""
    terminal = Terminal(variables={"FERRYMAN_URL": stack["url"]})
    key = asyncio.run(prepare(stack))
    came: Story = {"seen": terminal.seen, "folder": tmp_path_factory.mktemp("two-people")}
    owner = terminal.export(FERRYMAN_KEY=key)
    ada, vic = meet(came, terminal, owner)
    work(came, ada)
    look_on(came, ada, vic)
    reach_the_cap(came, ada)
    part(came, ada, vic)
    close(came, owner, ada)
    return came


async def prepare(stack: Mapping[str, Any]) -> str:
    """Have the model know what waits, and return the API key of a new owner."""
    async with Admin.from_note(stack) as admin:
        await admin.set_script(WAITS, {"steps": [asks(call("wait_until", seconds=900)), says("Never.")]})
    clients = provision.connect(stack["env"])
    try:
        return await create_owner(clients, "pro")
    finally:
        await clients.close()


def meet(came: Story, terminal: Terminal, owner: Terminal) -> list[Terminal]:
    """Have the owner make a workspace and invite two people, and these join."""
    came["workspace"] = owner.get("workspace create --name Shop")["workspace_id"]
    inside = owner.export(FERRYMAN_WORKSPACE_ID=came["workspace"])
    people = []
    for name, options in (("Ada", "--role admin"), ("Vic", "--role viewer --approves")):
        token = inside.get(f"member invite {name} {options}")["token"]
        came[name] = terminal.get("member join", stdin=token)
        people.append(terminal.export(FERRYMAN_KEY=came[name]["key"]))
    return people


def work(came: Story, ada: Terminal) -> None:
    """Have Ada make an agent and a task of it with a credential, and run it."""
    tools = "--tool http_get --tool api_call --tool wait_until"
    came["agent"] = agent = ada.get(f"agent create --template wally --name Scout {tools}")
    of_agent = f"--agent {agent['agent_id']} --prompt 'Do it.'"
    task = f"task create --name hello --model scripted/hello {of_agent} --integration coingecko"
    came["task"] = ada.get(f"{task} --tool http_get --tool api_call --tool http_post")["task_id"]
    came["waits"] = ada.get(f"task create --name waits --model scripted/{WAITS} {of_agent} --tool wait_until")["task_id"]
    ada.get(f"credential set {came['task']} COINGECKO_API_KEY --service coingecko", stdin=KEY)
    came["ran"] = ada.get(f"run {came['task']}")


def look_on(came: Story, ada: Terminal, vic: Terminal) -> None:
    """Have Vic read, and try to run; Ada try a key that only reads; and both try to make a key that approves."""
    came["record"] = vic.get(f"show {came['ran']['execution_id']} --audit")
    came["policy"] = vic.get(f"policy {came['agent']['agent_id']} --task {came['task']}")
    came["credentials"] = vic.get(f"credential list {came['task']}")
    came["viewer runs"] = vic.type(f"run {came['task']}")
    came["reading"] = ada.get("key create reading --scope read")
    reading = ada.export(FERRYMAN_KEY=came["reading"]["key"])
    came["key reads"] = reading.get("task list")
    came["key runs"] = reading.type(f"run {came['task']}")
    came["admin approves"] = ada.type("key create deciding --scope approve")
    came["viewer approves"] = vic.type("key create deciding --scope approve")


def reach_the_cap(came: Story, ada: Terminal) -> None:
    """Give the agent a cap below what an execution may cost, run into it, and take it away."""
    agent = came["agent"]["agent_id"]
    ada.get(f"agent update {agent} --max-credits-month 50")
    came["capped"] = ada.type(f"run {came['task']} --json")
    came["budgets"], came["alerts"] = ada.get("budget")["budgets"], ada.get("alerts")
    ada.get(f"agent update {agent} --max-credits-month none")


def part(came: Story, ada: Terminal, vic: Terminal) -> None:
    """Let Vic run what waits, revoke a key that watches it, remove Vic, and have Ada answer for the execution and end it."""
    person = came["Vic"]["person_id"]
    ada.get(f"member update {person} --role operator")
    waiting = vic.get(f"run {came['waits']} --detach")["execution_id"]
    reading = ada.export(FERRYMAN_KEY=came["reading"]["key"])
    watched = reading.watch(waiting)
    ada.get(f"key revoke {came['reading']['key_id']}")
    came["watched"], came["revoked"] = reading.await_end(watched), reading.type("task list")
    came["started"] = ada.get(f"show {waiting}")
    ada.get(f"member remove {person} --take-over")
    came["removed"] = vic.type("task list")
    for job in ada.get("job list"):
        ada.get(f"job show {job['job_id']} --watch")
    came["taken over"] = ada.get(f"show {waiting}")
    ada.get(f"cancel {waiting}")
    ada.type(f"watch {waiting}")
    came["cancelled"] = ada.get(f"show {waiting}")
    came["history"] = ada.get("history")


def close(came: Story, owner: Terminal, ada: Terminal) -> None:
    """Export the workspace, delete it, and verify both files where no service can be asked."""
    workspace, folder = came["workspace"], came["folder"]
    archive, receipt, keys = (folder / name for name in ("shop.tar.gz", "deleted.json", "keys.txt"))
    came["exported"] = ada.get(f"workspace export {workspace} --out {archive}")
    owner.type(f"receipts --output {keys}")
    came["deleted"] = owner.get(f"workspace delete {workspace} --yes --receipt {receipt}")
    came["gone"] = ada.type("task list"), owner.type(f"workspace show {workspace}")
    came["spent"] = owner.get("ledger --by workspace")
    alone = ada.export(FERRYMAN_URL="https://nowhere.invalid")
    came["archive"] = alone.type(f"verify {archive} --public-key {keys}")
    came["receipt"] = alone.type(f"verify {receipt} --public-key {keys}")
    forged = folder / "forged.json"
    forged.write_text(receipt.read_text().replace('"executions": 3', '"executions": 2'))
    came["forged"] = alone.type(f"verify {forged} --public-key {keys}")


def test_an_agent_of_a_template_may_call_what_it_is_given(story: Story) -> None:
    agent = story["agent"]
    assert (agent["template"], agent["name"]) == ("wally", "Scout")
    assert agent["allowed_tools"] == ["http_get", "api_call", "wait_until"]


def test_an_admin_runs_a_task_with_a_credential(story: Story) -> None:
    assert (story["ran"]["status"], story["ran"]["output"]) == ("completed", ANSWER)
    assert story["ran"]["person_id"] == story["Ada"]["person_id"]


def test_nobody_is_shown_the_value_of_a_credential(story: Story) -> None:
    assert [credential["name"] for credential in story["credentials"]] == ["COINGECKO_API_KEY"]
    assert KEY not in "".join(story["seen"])


def test_a_viewer_reads_the_whole_record(story: Story) -> None:
    assert [item["tool"] for item in story["record"]["calls"]] == ["http_get", "api_call"]
    assert story["record"]["execution"]["output"] == ANSWER


def test_the_policy_says_which_level_takes_a_tool_away(story: Story) -> None:
    rows = {row["tool"]: row["taken_by"] for row in story["policy"]}
    assert [rows[name] for name in ("http_get", "http_post", "wait_until")] == [[], ["agent"], ["task"]]
    assert rows["browse_url"] == ["task", "agent", "catalog"]


@pytest.mark.parametrize(
    ("who", "lacks"),
    [("viewer runs", "the right run, which your role viewer"), ("key runs", "the right run, which is not among the scopes")],
)
def test_who_may_only_read_is_refused_to_run_with_the_right_named(story: Story, who: str, lacks: str) -> None:
    assert (story[who].code, lacks in story[who].err) == (5, True)


def test_a_key_that_only_reads_reads(story: Story) -> None:
    assert {task["name"] for task in story["key reads"]} == {"hello", "waits"}


def test_to_approve_is_a_right_apart_from_managing(story: Story) -> None:
    assert (story["viewer approves"].code, story["admin approves"].code) == (0, 5)
    assert "approve" in story["admin approves"].err


def test_a_cap_refuses_an_execution_and_says_what_to_do(story: Story) -> None:
    agent, capped = story["agent"]["agent_id"], story["capped"]
    used = next(row["credits_used"] for row in story["budgets"] if row["kind"] == "agent" and row["id"] == agent)
    error = json.loads(capped.out.splitlines()[-1])["error"]
    expected = f"100 credits do not fit: agent {agent} may use 50 credits a month, of which {used} are used and 0 reserved"
    assert (capped.code, error.partition(";")[0]) == (3, expected)
    assert error.endswith("or raise max_credits_month of the agent")


def test_a_cap_that_refuses_has_an_alert(story: Story) -> None:
    (alert,) = story["alerts"]
    assert (alert["kind"], alert["id"]) == ("agent", story["agent"]["agent_id"])
    assert (alert["percent"], alert["refused"]) == (100, True)


def test_a_revoked_key_is_refused_and_what_it_watches_ends_before_the_execution(story: Story) -> None:
    assert [(ran.code, "API key" in ran.err) for ran in (story["watched"], story["revoked"])] == [(5, True), (5, True)]
    assert (story["started"]["status"], story["started"]["person_id"]) == ("running", story["Vic"]["person_id"])


def test_who_was_removed_is_refused_and_another_answers_for_what_they_started(story: Story) -> None:
    assert story["removed"].code == 5
    handed_over, cancelled, ada = story["taken over"], story["cancelled"], story["Ada"]["person_id"]
    assert (handed_over["status"], handed_over["taken_over_by"]) == ("running", ada)
    assert (cancelled["status"], cancelled["cancelled_by"]) == ("killed", ada)


def test_the_history_names_who_changed_what(story: Story) -> None:
    removed = next(entry for entry in story["history"] if entry["action"] == "deleteMember")
    assert (removed["person_id"], removed["done"]) == (story["Ada"]["person_id"], True)
    assert story["Vic"]["person_id"] in removed["targets"]


def test_the_archive_is_genuine_and_has_no_secret(story: Story) -> None:
    assert story["exported"]["counts"]["executions"] == 3
    assert story["archive"].code == 0
    content = gzip.decompress(Path(story["exported"]["file"]).read_bytes())
    secrets = (KEY, story["Ada"]["key"], story["Vic"]["key"], story["reading"]["key"])
    assert [secret for secret in secrets if secret.encode() in content] == []


def test_a_deletion_is_final_and_its_receipt_tells_what_there_was(story: Story) -> None:
    assert [ran.code for ran in story["gone"]] == [5, 5]
    counts = story["deleted"]["receipt"]["counts"]
    assert {name: counts[name] for name in ("agents", "tasks", "executions")} == {"agents": 1, "tasks": 2, "executions": 3}
    assert (story["receipt"].code, story["forged"].code) == (0, 1)


def test_what_was_spent_stays_spent(story: Story) -> None:
    line = next(line for line in story["spent"]["lines"] if line["id"] == story["workspace"])
    assert line["executions"] >= 1
