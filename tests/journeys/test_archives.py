"""A workspace that its owner exports and a stranger imports, by what the two type at their terminals.

The story is played once; each test tells one thing that came of it.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ferryman.archives.reading import iterate_files, read_archive
from ferryman.client import AsyncClient
from ferryman.domain.archives.file_lines import PART_BYTES
from ferryman.domain.archives.manifest import MANIFEST
from ferryman.stack import provision
from ferryman.stack.hello import ANSWER
from tests.journeys.conftest import KEY, create_owner
from tests.journeys.terminal import Terminal

Story = dict[str, Any]
OF_PLACE = {"agent_id", "workspace_id", "task_id", "user_id", "created_at", "updated_at", "paused", "next_fire_at"}
FILE = bytes(range(256)) * (PART_BYTES // 256) + b"end"
"""One that takes two parts."""

SENT = 2
"""The files of the archive that arrive before the import is interrupted."""


@pytest.fixture(scope="module")
def story(stack: Mapping[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Story:
    """What came of each thing that somebody typed, by name, and everything that was seen."""
    terminal = Terminal(variables={"FERRYMAN_URL": stack["url"]})
    giver, taker = (terminal.export(FERRYMAN_KEY=key) for key in asyncio.run(create_owners(stack)))
    came: Story = {"seen": terminal.seen, "folder": tmp_path_factory.mktemp("archives")}
    furnish(came, giver)
    hand_over(came, giver)
    asyncio.run(interrupt(came, taker.variables))
    take(came, taker)
    look_around(came, taker.export(FERRYMAN_WORKSPACE_ID=came["imported"]["workspace_id"]))
    pry(came, taker)
    came["giver after"] = giver.get(f"task list --workspace {came['workspace']}")
    return came


async def create_owners(stack: Mapping[str, Any]) -> list[str]:
    """Return the own API keys of two new owners."""
    clients = provision.connect(stack["env"])
    try:
        return [await create_owner(clients, "pro") for _ in range(2)]
    finally:
        await clients.close()


def furnish(came: Story, giver: Terminal) -> None:
    """Make a workspace of an agent, a task with a credential and a tool of its own, one execution, a schedule, and a file."""
    came["workspace"] = giver.get("workspace create --name Küche")["workspace_id"]
    inside = giver.export(FERRYMAN_WORKSPACE_ID=came["workspace"])
    came["agent"] = inside.get("agent create --template wally --name Scout --tool http_get --tool api_call --tool look")
    task = f"task create --model scripted/hello --agent {came['agent']['agent_id']} --prompt 'Do it.' --integration coingecko"
    first = inside.get(f"{task} --name hello --tool http_get --tool api_call")["task_id"]
    declared = {"kind": "http", "name": "look", "url": "https://api.coingecko.com/{id}", "description": "Looks – at all."}
    inside.get(f"tools add - --task {first}", stdin=json.dumps(declared))
    inside.get(f"credential set {first} COINGECKO_API_KEY --service coingecko", stdin=KEY)
    daily = inside.get(f"{task} --name daily --tool http_get --schedule '0 0 1 1 *' --disabled")["task_id"]
    came["ran"] = inside.get(f"run {first}")
    came["tasks"] = {name: inside.get(f"task show {task}") for name, task in (("hello", first), ("daily", daily))}
    came["tools"] = inside.get(f"tools list --task {first}")
    came["record"] = inside.get(f"show {came['ran']['execution_id']} --audit")
    (came["folder"] / "trip.bin").write_bytes(FILE)
    inside.get(f"files put {came['folder'] / 'trip.bin'} notes/ --type image/x-trip")


def hand_over(came: Story, giver: Terminal) -> None:
    """Export the workspace, and write down the public keys apart from it."""
    came["archive"], came["keys"] = came["folder"] / "kitchen.tar.gz", came["folder"] / "keys.txt"
    giver.get(f"workspace export {came['workspace']} --out {came['archive']}")
    assert giver.type(f"receipts --output {came['keys']}").code == 0


async def interrupt(came: Story, variables: Mapping[str, str]) -> None:
    """Import the first files alone, as a command does that is ended there."""
    with came["archive"].open("rb") as archive:
        begins = read_archive(archive).to_import()
    with came["archive"].open("rb") as archive:
        files = [(name, data) for name, data in iterate_files(archive) if name != MANIFEST]
    async with AsyncClient(variables["FERRYMAN_URL"], variables["FERRYMAN_KEY"], workspace="") as client:
        begun = (await client.begin_import(begins))["workspace_id"]
        for number, (name, data) in enumerate(files[:SENT]):
            came["interrupted"] = await client.put_import_file(begun, number, name, data)


def take(came: Story, taker: Terminal) -> None:
    """Import the file by command, which finds the import that was interrupted, and then once more."""
    came["budget before"] = read_money(taker)
    command = f"workspace import {came['archive']} --public-key {came['keys']}"
    came["imported"] = taker.get(command)
    came["again"] = taker.get(command)
    came["budget after"] = read_money(taker)
    forged = came["folder"] / "forged.tar.gz"
    content = gzip.decompress(came["archive"].read_bytes()).replace(ANSWER.encode(), ANSWER.upper().encode())
    forged.write_bytes(gzip.compress(content, mtime=0))
    came["forged"] = taker.type(f"workspace import {forged} --public-key {came['keys']}")
    came["workspaces"] = [item["workspace_id"] for item in taker.get("workspace list")]


def read_money(taker: Terminal) -> list[Any]:
    """Return what an owner has used, of each workspace and of the plan."""
    return [taker.get("ledger --by workspace"), taker.get("budget")["budgets"]]


def look_around(came: Story, inside: Terminal) -> None:
    """Show what is in the imported workspace, verify its history, and try to end it; then turn the schedule on."""
    came["agents here"] = {agent["name"]: agent for agent in inside.get("agent list")}
    listed = {task["name"]: task["task_id"] for task in inside.get("task list")}
    came["tasks here"] = {name: inside.get(f"task show {task}") for name, task in listed.items()}
    came["tools here"] = inside.get(f"tools list --task {listed['hello']}")
    came["credentials here"] = inside.get(f"credential list {listed['hello']}")
    (came["execution here"],) = inside.get("show")
    name = came["execution here"]["execution_id"]
    came["record here"] = inside.get(f"show {name} --audit")
    receipts, record = came["folder"] / "receipts.json", came["folder"] / "record.json"
    record.write_text(json.dumps(came["record here"]))
    came["receipts written"] = inside.type(f"receipts {name} --output {receipts}")
    alone = inside.export(FERRYMAN_URL="https://nowhere.invalid")
    came["verified"] = alone.type(f"verify {receipts} --public-key {came['keys']} --record {record}")
    record.write_text(json.dumps(came["record here"]).replace(ANSWER, ANSWER.upper()))
    came["altered"] = alone.type(f"verify {receipts} --public-key {came['keys']} --record {record}")
    came["execution before"] = inside.get(f"show {name}")
    came["cancelled"] = inside.type(f"cancel {name}")
    came["resumed"] = inside.type("resume")
    came["execution later"] = inside.get(f"show {name}")
    came["files here"] = inside.get("files ls")
    came["file here"] = came["folder"] / "downloaded.bin"
    inside.get(f"files get notes/trip.bin {came['file here']}")
    came["turned on"] = inside.get(f"task update {listed['daily']} --enabled")


def pry(came: Story, taker: Terminal) -> None:
    """Ask for everything by the ids of where it came from, and by ids that nobody has, in each of the taker's workspaces."""
    execution, task, agent = came["ran"]["execution_id"], came["tasks"]["hello"]["task_id"], came["agent"]["agent_id"]
    ways = [
        *((f"{command} {{}}", execution) for command in ("show", "show --audit", "receipts", "cancel")),
        *((f"{command} {{}}", task) for command in ("task show", "run", "credential list", "tools list --task")),
        *((f"{command} {{}}", agent) for command in ("agent show", "policy")),
        *((f"workspace {command} {{}}", came["workspace"]) for command in ("show", "archive")),
    ]
    came["pried"] = [
        (command, *(inside.type(command.format(tried)) for tried in (name, f"{name[:-4]}0000")))
        for inside in (taker, taker.export(FERRYMAN_WORKSPACE_ID=came["imported"]["workspace_id"]))
        for command, name in ways
    ]


def leave_place(thing: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition without its ids and times."""
    return {name: value for name, value in thing.items() if name not in OF_PLACE}


def iterate_ids(value: Any) -> Iterator[str]:
    """Yield every text in a document."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from iterate_ids(item)


def test_an_import_that_was_interrupted_goes_on_in_the_same_workspace(story: Story) -> None:
    assert (story["interrupted"]["state"], story["interrupted"]["following"]) == ("importing", SENT)
    imported = story["imported"]
    assert (imported["workspace_id"], imported["state"]) == (story["interrupted"]["workspace_id"], "active")


def test_an_import_of_a_file_that_was_imported_makes_another_workspace(story: Story) -> None:
    assert story["again"]["counts"] == story["imported"]["counts"]
    assert len({story["again"]["workspace_id"], story["imported"]["workspace_id"], story["workspace"]}) == 3


def test_nothing_of_a_file_that_was_changed_is_imported(story: Story) -> None:
    assert (story["forged"].code, "its SHA-256 is another" in story["forged"].err) == (1, True), story["forged"].err
    assert {*story["workspaces"]} >= {story["imported"]["workspace_id"], story["again"]["workspace_id"]}
    assert len(story["workspaces"]) == 3  # with the default one


def test_the_agent_is_the_same_under_a_new_id(story: Story) -> None:
    here = story["agents here"]["Scout"]
    assert leave_place(here) == leave_place(story["agent"])
    assert here["agent_id"] != story["agent"]["agent_id"]


@pytest.mark.parametrize("name", ["hello", "daily"])
def test_a_task_is_the_same_under_a_new_id_and_of_the_imported_agent(story: Story, name: str) -> None:
    here, there = story["tasks here"][name], story["tasks"][name]
    assert leave_place(here) == leave_place(there)
    assert here["agent_id"] == story["agents here"]["Scout"]["agent_id"]
    assert here["task_id"] != there["task_id"]


def test_a_file_is_the_same_to_the_byte(story: Story) -> None:
    assert story["file here"].read_bytes() == FILE
    assert [(file["key"], file["size_bytes"]) for file in story["files here"]] == [("notes/trip.bin", len(FILE))]


def test_a_declared_tool_is_the_same(story: Story) -> None:
    assert story["tools here"] == story["tools"]
    assert "look" in json.dumps(story["tools here"])


def test_a_schedule_is_paused_until_its_task_is_turned_on(story: Story) -> None:
    here, on = story["tasks here"]["daily"], story["turned on"]
    assert (here["schedule"]["cron"], here["next_fire_at"], here["enabled"]) == ("0 0 1 1 *", None, False)
    assert here["paused"].startswith("imported")
    assert (on["paused"], on["next_fire_at"] is None) == (None, False)


def test_a_credential_is_listed_to_be_entered_again(story: Story) -> None:
    (needed,) = story["imported"]["credentials"]
    assert (needed["task"], needed["name"], needed["service"]) == ("hello", "COINGECKO_API_KEY", "coingecko")
    assert needed["task_id"] == story["tasks here"]["hello"]["task_id"]
    assert story["credentials here"] == []


def test_no_value_of_a_credential_is_anywhere(story: Story) -> None:
    places = [Path(story["folder"], name).read_bytes() for name in ("receipts.json", "record.json")]
    places += [gzip.decompress(story["archive"].read_bytes()), "".join(story["seen"]).encode()]
    assert [place for place in places if KEY.encode() in place] == []


def test_the_history_names_where_it_ran_and_has_the_same_record(story: Story) -> None:
    here, there = story["execution here"], story["ran"]
    assert (here["imported_from"], here["status"]) == (there["execution_id"], "completed")
    assert here["execution_id"] != there["execution_id"]
    assert story["record here"] == story["record"]


def test_the_history_is_verified_with_the_keys_of_where_it_ran(story: Story) -> None:
    assert (story["receipts written"].code, story["verified"].code, story["altered"].code) == (0, 0, 1), story["verified"]


def test_the_history_is_neither_resumed_nor_cancelled(story: Story) -> None:
    later = story["execution later"]
    assert (later["status"], later["cancelled_by"], later["cancel_requested"]) == ("completed", None, False)
    assert later == story["execution before"]
    assert (story["cancelled"].code, story["resumed"].code) == (0, 0)  # both change nothing of what has ended


def test_an_import_costs_nothing(story: Story) -> None:
    assert story["budget after"] == story["budget before"]


def test_an_id_of_where_it_came_from_finds_what_an_id_of_nobody_finds(story: Story) -> None:
    for command, theirs, nobodys in story["pried"]:
        assert (theirs.code, theirs.out, theirs.err) == (nobodys.code, nobodys.out, nobodys.err), command
        assert theirs.code == 5, command


def test_no_definition_names_an_id_of_where_it_came_from(story: Story) -> None:
    left_behind = {story["workspace"], story["agent"]["agent_id"], *(task["task_id"] for task in story["tasks"].values())}
    for kind in ("agents here", "tasks here", "tools here"):
        assert {*iterate_ids(story[kind])} & left_behind == set(), kind


def test_who_exported_has_what_was_there_before(story: Story) -> None:
    assert {task["task_id"] for task in story["giver after"]} == {task["task_id"] for task in story["tasks"].values()}
