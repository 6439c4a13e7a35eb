"""Hostile archives: whatever a file says, it is refused with file, line and field, and the workspace stays importing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest

from ferryman.domain.archives.lines import LINE_BYTES_MAX

from .conftest import Stage
from .importing import (
    IMPORTS,
    Files,
    describe,
    describe_file,
    read_values,
    replace_line,
    send_files,
    spread_history,
    take_apart,
)
from .test_importing import archive, bob, signed_archive  # noqa: F401 - fixtures

WORKSPACE, AGENTS = "workspace-000001.jsonl", "agents-000001.jsonl"
TASKS, TOOLS, HISTORY = "tasks-000001.jsonl", "tools-000001.jsonl", "executions-000001.jsonl"
Change = Callable[[Files], Files]


def put(file: str, number: int = 0, /, **members: Any) -> Change:
    """Set members of a line."""
    return lambda files: replace_line(files, file, number, lambda line: {**line, **members})


def put_value(kind: str, **members: Any) -> Change:
    """Set members of the value of the first line of a kind of an execution."""

    def change(files: Files) -> Files:
        kinds = [line["kind"] for line in read_values(files, "executions")]
        return replace_line(files, HISTORY, kinds.index(kind), lambda line: {**line, "value": {**line["value"], **members}})

    return change


def put_tool(**members: Any) -> Change:
    return lambda files: replace_line(files, TOOLS, 0, lambda line: {**line, "tool": {**line["tool"], **members}})


def drop_line(name: str, number: int) -> Change:
    def change(files: Files) -> Files:
        lines = files[name].splitlines(keepends=True)
        return {**files, name: b"".join(lines[:number] + lines[number + 1 :])}

    return change


def write(name: str, content: bytes) -> Change:
    return lambda files: {**files, name: content}


REFUSED: Mapping[str, tuple[Change, str]] = {
    "a workspace of another id": (put(WORKSPACE, id="ws_other"), "workspace-000001.jsonl line 1: id: is not the workspace"),
    "a workspace that names an owner": (put(WORKSPACE, owner="ann"), "owner: Extra inputs are not permitted"),
    "a workspace without a name": (put(WORKSPACE, name=" "), "name: must not be empty"),
    "a limit above the plan": (put(WORKSPACE, max_credits_month="99999999"), "max_credits_month: must be at most"),
    "kept for more than for ever": (put(WORKSPACE, retention_days=10**7), "retention_days: must be 1 to"),
    "an agent that names a workspace": (put(AGENTS, workspace="ws_ann"), "agents-000001.jsonl line 1: workspace: Extra inputs"),
    "two default agents": (put(AGENTS, 1, is_default=True), "is_default: there is more than one"),
    "an archived default agent": (put(AGENTS, archived=True), "archived: the default agent cannot be archived"),
    "an agent with a tool that is none": (put(AGENTS, allowed_tools=["a b"]), "allowed_tools.0"),
    "an agent with an id that is a path": (put(AGENTS, 1, id="../x"), "agents-000001.jsonl line 2: id:"),
    "a task that names a person": (put(TASKS, person="person_1"), "tasks-000001.jsonl line 1: person: Extra inputs"),
    "a task that names an agent twice": (put(TASKS, agent_id="agent_1"), "agent_id: is not a field"),
    "a task of somebody else's agent": (put(TASKS, agent="agent_of_carl"), "agent: is none of the agents of the archive"),
    "a task with a model without a price": (put(TASKS, model="claude-1"), "tasks-000001.jsonl line 1: model: has no price"),
    "a task above the plan": (put(TASKS, max_credits="99999999"), "max_credits: must be above 0 and at most"),
    "a prompt that is too long": (put(TASKS, task_prompt="x" * 50_001), "task_prompt: must be at most 50000 characters"),
    "a webhook inside": (put(TASKS, webhook_urls=["https://169.254.169.254/"]), "webhook_urls.0"),
    "a task without a field": (
        lambda files: replace_line(files, TASKS, 0, lambda line: {name: line[name] for name in line if name != "name"}),
        "name: Field required",
    ),
    "a credential with a value": (
        put(TASKS, credentials=[{"name": "A", "value": "secret"}]),
        "credentials.0",
    ),
    "a tool of no task": (put(TOOLS, task="task_of_carl"), "task: is none of the tasks of the archive"),
    "a tool of another host": (put_tool(url="https://evil.example/{name}"), "host evil.example is not approved"),
    "a tool with one member more": (put_tool(owner="ann"), "tool: is not as this version writes one"),
    "a tool with a name of the system's": (put_tool(name="api_call"), "tools-000001.jsonl line 1: tool.name"),
    "an execution that runs": (put_value("execution", status="running"), "value.status: is running"),
    "an execution of another id": (put_value("execution", execution_id="exec_x"), "place: has other ids than the record"),
    "a place that names an owner": (
        lambda files: replace_line(files, HISTORY, 0, lambda line: {**line, "place": {**line["place"], "owner": "ann"}}),
        "executions-000001.jsonl line 1: place: owner",
    ),
    "a member that is too much": (put_value("execution", owner="ann"), "is no execution as this version writes it"),
    "a line of an unknown kind": (put(HISTORY, kind="secret"), "is no line of an execution"),
    "an execution without its end": (
        lambda files: drop_line(HISTORY, len(files[HISTORY].splitlines()) - 1)(files),
        "has no end",
    ),
    "an end alone": (drop_line(HISTORY, 0), "is a line of kind"),
    "no JSON": (write(TASKS, b"hello\n"), "tasks-000001.jsonl line 1: is no JSON"),
    "half a line": (write(TASKS, b'{"a":1}'), "tasks-000001.jsonl: does not end with the end of a line"),
    "a line that is too long to be stored": (
        write(TASKS, b'{"a":"' + b"a" * 1_000_000 + b'"}\n'),
        "line 1: has 1000009 bytes in UTF-8",
    ),
    "a line that is too long": (write(TASKS, b'{"a":"' + b"a" * LINE_BYTES_MAX + b'"}\n'), "and at most 8388608"),
    "deep": (write(TASKS, b'{"a":' + b"[" * 200 + b"]" * 200 + b"}\n"), "is nested more than 100 deep"),
}
"""Changes of an archive, each with the words of the refusal."""

FORGED: Mapping[str, tuple[Change, str]] = {
    "an output that nobody signed": (put_value("execution", output="forged"), "its receipts do not fit it: execution"),
    "a result that nobody signed": (put_value("call", tool="http_post"), "its receipts do not fit it: calls/0"),
    "a receipt that nobody signed": (put_value("receipt", signature="0" * 128), "its receipts are not genuine"),
}
"""Changes of an archive with receipts, each with the words of the refusal."""


@pytest.mark.parametrize("name", REFUSED)
async def test_it_is_refused_where_it_is_wrong(bob: httpx.AsyncClient, archive: bytes, name: str, stage: Stage) -> None:  # noqa: F811
    change, words = REFUSED[name]
    begins, files = take_apart(archive)
    files = change(files)
    workspace = (await bob.post(IMPORTS, json=describe(begins, files))).json()["workspace_id"]
    answer = await send_files(bob, workspace, files)
    assert answer.status_code == 422, answer.text
    assert words in " ".join(error["message"] for error in answer.json()["errors"])
    assert (await bob.get(f"/v1/workspaces/{workspace}")).json()["state"] == "importing"
    assert (await bob.delete(f"/v1/workspaces/{workspace}")).status_code == 202


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("name", FORGED)
async def test_what_nobody_signed_is_refused(client: httpx.AsyncClient, signed_archive: bytes, name: str, spread: bool) -> None:  # noqa: F811
    change, words = FORGED[name]
    begins, files = take_apart(signed_archive)
    files = spread_history(change(files)) if spread else change(files)
    workspace = (await client.post(IMPORTS, json=describe(begins, files))).json()["workspace_id"]
    answer = await send_files(client, workspace, files)
    assert answer.status_code == 422, answer.text
    assert words in " ".join(error["message"] for error in answer.json()["errors"])
    assert (await client.get(f"/v1/workspaces/{workspace}")).json()["state"] == "importing"


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "tasks-000001.jsonl",
        "workspace-000002.jsonl",
        "secrets-000001.jsonl",
        "manifest.json",
    ],
)
async def test_a_file_of_another_name_is_refused(bob: httpx.AsyncClient, archive: bytes, name: str) -> None:  # noqa: F811
    begins, files = take_apart(archive)
    workspace = (await bob.post(IMPORTS, json=begins)).json()["workspace_id"]
    answer = await bob.put(f"{IMPORTS}/{workspace}/files?number=0", json=describe_file(name, files[WORKSPACE]))
    assert (answer.status_code, "is not where it must be" in answer.text or "is no name" in answer.text) == (422, True)


async def test_a_file_that_has_not_its_digest_is_refused(bob: httpx.AsyncClient, archive: bytes) -> None:  # noqa: F811
    begins, files = take_apart(archive)
    workspace = (await bob.post(IMPORTS, json=begins)).json()["workspace_id"]
    body = {**describe_file(WORKSPACE, files[WORKSPACE]), "sha256": "0" * 64}
    answer = await bob.put(f"{IMPORTS}/{workspace}/files?number=0", json=body)
    assert (answer.status_code, "does not have the SHA-256 that is told" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("about", "words"), [("digest", "the files are not those of the archive"), ("counts", "counts.tasks: the manifest says 7")]
)
async def test_files_that_are_not_those_it_began_with_do_not_end_it(
    bob: httpx.AsyncClient,  # noqa: F811
    archive: bytes,  # noqa: F811
    about: str,
    words: str,
) -> None:
    begins, files = take_apart(archive)
    wrong = {**begins, "digest": "0" * 64} if about == "digest" else {**begins, "counts": {**begins["counts"], "tasks": 7}}
    workspace = (await bob.post(IMPORTS, json=wrong)).json()["workspace_id"]
    answer = await send_files(bob, workspace, files)
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["field"], words in error["message"]) == (422, "content", True)
    assert (await bob.get(f"/v1/workspaces/{workspace}")).json()["state"] == "importing"


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("format", "ferryman-workspace/2"),
        ("files", 0),
        ("files", 10**9),
        ("digest", "x"),
        ("keys", {"1": "zz"}),
        ("owner", "ann"),
    ],
)
async def test_what_an_import_begins_with_is_checked(
    bob: httpx.AsyncClient,  # noqa: F811
    archive: bytes,  # noqa: F811
    member: str,
    value: Any,
) -> None:
    answer = await bob.post(IMPORTS, json={**take_apart(archive)[0], member: value})
    assert (answer.status_code, answer.json()["errors"][0]["field"].partition(".")[0]) == (422, member)


async def test_a_body_that_is_none_is_refused(bob: httpx.AsyncClient, archive: bytes) -> None:  # noqa: F811
    workspace = (await bob.post(IMPORTS, json=take_apart(archive)[0])).json()["workspace_id"]
    headers = {"content-type": "application/json"}
    for body in (b"hello", b"[]", b"{}", b'{"name":1}', b"[" * 100_000):
        answer = await bob.put(f"{IMPORTS}/{workspace}/files?number=0", content=body, headers=headers)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body")
