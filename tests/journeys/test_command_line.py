"""The command line against the running stack: tasks, credentials, runs, and exit codes that mean something."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ferryman.catalog.tools import LISTED
from ferryman.client import AsyncClient
from tests.journeys.conftest import FERRYMAN, KEY, Journey, call

HOST = "api.coingecko.com"


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs `ferryman` as somebody beside the stack would."""

    stack: Mapping[str, Any]

    @property
    def key(self) -> str:
        return Path(self.stack["key_file"]).read_text().strip()

    async def __call__(self, *arguments: str, stdin: str = "", **variables: str) -> Ran:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FERRYMAN_")}
        child = await asyncio.create_subprocess_exec(
            FERRYMAN,
            *arguments,
            env={**environment, "FERRYMAN_DATA": str(self.stack["data"]), **variables},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await child.communicate(stdin.encode())
        assert child.returncode is not None
        return Ran(child.returncode, out.decode(), err.decode())


@pytest.fixture
def ferryman(stack: Mapping[str, Any]) -> Shell:
    return Shell(stack)


async def scripted(journey: Journey, *steps: Mapping[str, Any]) -> str:
    """Return the name of a model that takes these steps."""
    await journey.admin.set_script(journey.name, {"steps": list(steps)})
    return f"scripted/{journey.name}"


async def test_a_task_is_made_run_and_shown(ferryman: Shell, journey: Journey) -> None:
    await journey.serve(HOST)
    uses = [call("http_get", url=journey.url(HOST))]
    model = await scripted(journey, {"text": "Looking.", "tool_calls": uses}, {"text": "It is so."})
    options = ("--name", "brief", "--model", model, "--prompt", "Look.", "--tool", "http_get", "--integration", "coingecko")
    task = (await ferryman("task", "create", *options)).out.strip()
    ran = await ferryman("run", task, "--json")
    *events, record = [json.loads(line) for line in ran.out.splitlines()]
    assert (ran.code, record["output"]) == (0, "It is so.")
    assert [event["event"] for event in events] == ["started", "turn", "tool_call", "tool_result", "turn", "finished"]
    printed = await ferryman("show", record["execution_id"])
    assert (printed.code, journey.path in printed.out.replace("\n", "")) == (0, True)


async def test_a_task_comes_from_a_file_on_stdin(ferryman: Shell) -> None:
    task = {"name": "from a file", "model": "scripted/none", "task_prompt": "Do."}
    created = await ferryman("task", "create", "--file", "-", "--json", stdin=json.dumps(task))
    assert (created.code, created.json["name"]) == (0, "from a file")


async def test_an_option_says_which_tools_the_model_is_shown(ferryman: Shell) -> None:
    options = ("--name", "some", "--model", "scripted/none", "--prompt", "Do.", "--tool-loading", "context-aware")
    created = await ferryman("task", "create", *options, "--json")
    assert (created.code, created.json["tool_loading"]) == (0, "context-aware")


async def test_a_credential_is_read_from_stdin_and_never_shown(ferryman: Shell) -> None:
    task = {"name": "keyed", "model": "scripted/none", "task_prompt": "Do.", "integrations": ["lunarcrush"]}
    created = (await ferryman("task", "create", "--file", "-", "--json", stdin=json.dumps(task))).json["task_id"]
    stored = await ferryman("credential", "set", created, "LUNARCRUSH_API_KEY", "--service", "lunarcrush", stdin=KEY + "\n")
    listed = await ferryman("credential", "list", created, "--json")
    assert (stored.code, [credential["name"] for credential in listed.json]) == (0, ["LUNARCRUSH_API_KEY"])
    assert KEY not in stored.out + stored.err + listed.out


async def test_a_refused_field_is_named_and_the_exit_code_is_5(ferryman: Shell) -> None:
    created = await ferryman("task", "create", "--name", "x", "--model", "scripted/x", "--prompt", "Do.", "--tool", "shell")
    assert created.code == 5
    assert "tools.0: is not implemented" in created.err


async def test_a_failed_execution_exits_with_3(ferryman: Shell) -> None:
    task = {"name": "unscripted", "model": "scripted/none", "task_prompt": "Do."}
    created = (await ferryman("task", "create", "--file", "-", "--json", stdin=json.dumps(task))).json["task_id"]
    ran = await ferryman("run", created)
    assert (ran.code, "failed" in ran.out) == (3, True)


async def test_a_disabled_task_is_not_run_and_the_exit_code_is_5(ferryman: Shell) -> None:
    task = {"name": "off", "model": "scripted/none", "task_prompt": "Do.", "enabled": False}
    created = (await ferryman("task", "create", "--file", "-", "--json", stdin=json.dumps(task))).json["task_id"]
    ran = await ferryman("run", created)
    assert (ran.code, "disabled" in ran.err) == (5, True)


async def test_a_run_has_the_input_and_the_labels_that_it_is_given(ferryman: Shell) -> None:
    task = {"name": "labelled", "model": "scripted/none", "task_prompt": "Do."}
    created = (await ferryman("task", "create", "--file", "-", "--json", stdin=json.dumps(task))).json["task_id"]
    labels = ("--label", "order=42", "--label", "note=a=b")
    started = (await ferryman("run", created, "--input", "Paris", *labels, "--detach", "--json")).json
    assert (started["input"], started["labels"]) == ("Paris", {"order": "42", "note": "a=b"})
    for wrong in (("--label", "order"), (*labels, "--label", "order=7")):
        refused = await ferryman("run", created, *wrong)
        assert (refused.code, "--label" in refused.err) == (2, True)


async def test_an_unknown_execution_exits_with_5(ferryman: Shell) -> None:
    assert (await ferryman("show", "exec_none")).code == 5


async def test_a_wrong_key_exits_with_5(ferryman: Shell) -> None:
    ran = await ferryman("task", "list", FERRYMAN_URL=ferryman.stack["url"], FERRYMAN_KEY="fm_" + "x" * 43)
    assert (ran.code, "API key" in ran.err) == (5, True)


async def test_hostile_text_cannot_steer_the_terminal(ferryman: Shell, journey: Journey) -> None:
    model = await scripted(journey, {"text": "\x1b]0;owned\x07 \x1b[2J done \u202egnp"})
    task = (await ferryman("task", "create", "--name", "evil", "--model", model, "--prompt", "Do.")).out.strip()
    ran = await ferryman("run", task)
    assert ran.code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.out)


async def test_a_second_stack_on_the_same_folder_says_where_the_first_is(ferryman: Shell) -> None:
    ran = await ferryman("up", "--data", str(ferryman.stack["data"]))
    assert (ran.code, ferryman.stack["url"] in ran.err) == (1, True)


async def test_the_tables_list_what_there_is(ferryman: Shell) -> None:
    tools, integrations, plans = [await ferryman(table, "--json") for table in ("tools", "integrations", "plans")]
    assert [tool["name"] for tool in tools.json] == sorted(LISTED)
    assert len(integrations.json) >= 18
    assert [plan["name"] for plan in plans.json] == ["guru", "pro"]


CAUGHT = "hooks.zapier.com"
"""A well-known host that nothing else on the shared stack serves."""


async def test_a_webhook_of_a_well_known_host_arrives_and_is_shown(ferryman: Shell, journey: Journey) -> None:
    url = f"https://{CAUGHT}/hooks/catch/{journey.name}"
    model = await scripted(journey, {"tool_calls": [call("webhook", url=url, body={"text": "don\x1be"})]}, {"text": "Told."})
    options = ("--name", "tell", "--model", model, "--prompt", "Tell.", "--tool", "webhook", "--integration", "webhook")
    created = await ferryman("task", "create", *options, "--webhook-url", url)
    assert (created.code, created.err) == (0, "")
    assert (await ferryman("run", created.out.strip())).code == 0
    arrived = [request for request in (await ferryman("webhooks", "--host", CAUGHT, "--json")).json if request["url"] == url]
    assert [(request["method"], json.loads(request["body"])) for request in arrived] == [("POST", {"text": "don\x1be"})]
    printed = await ferryman("webhooks")
    assert (printed.code, url in printed.out, "\x1b" in printed.out) == (0, True, False)


async def test_the_file_of_task_init_runs(ferryman: Shell, tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    assert (await ferryman("task", "init", str(file))).code == 0
    created = await ferryman("task", "create", "--file", str(file))
    ran = await ferryman("run", created.out.strip())
    assert (created.err, ran.code, "I asked CoinGecko twice" in ran.out) == ("", 0, True)


async def slow(ferryman: Shell, model: str) -> str:
    """Return a task on this model."""
    task = {"name": "slow", "model": model, "task_prompt": "Do.", "tools": ["http_get"], "integrations": ["coingecko"]}
    created = await ferryman("task", "create", "--file", "-", "--json", stdin=json.dumps(task))
    return str(created.json["task_id"])


async def watch(ferryman: Shell, task: str) -> tuple[asyncio.subprocess.Process, str]:
    """Return `ferryman run` on its way, and the execution it has started."""
    env = {**os.environ, "FERRYMAN_DATA": str(ferryman.stack["data"])}
    watching = await asyncio.create_subprocess_exec(FERRYMAN, "run", task, "--json", env=env, stdout=asyncio.subprocess.PIPE)
    assert watching.stdout is not None
    return watching, str(json.loads(await watching.stdout.readline())["execution_id"])


async def test_interrupting_a_run_ends_the_watching_and_not_the_execution(ferryman: Shell, journey: Journey) -> None:
    await journey.serve(HOST, delay_s=1.5)
    uses = [call("http_get", url=journey.url(HOST))]
    watching, execution = await watch(
        ferryman, await slow(ferryman, await scripted(journey, {"tool_calls": uses}, {"text": "Done."}))
    )
    watching.send_signal(signal.SIGINT)
    await watching.communicate()
    assert watching.returncode == 130
    async with AsyncClient(ferryman.stack["url"], ferryman.key) as client:
        kinds = [event.kind async for event in client.stream_events(execution)]
    assert kinds[-1] == "finished"


async def test_a_cancelled_run_exits_with_4(ferryman: Shell, journey: Journey) -> None:
    await journey.serve(HOST, delay_s=1.5)
    uses = [call("http_get", url=journey.url(HOST)), call("http_get", url=journey.url(HOST))]
    created = await slow(ferryman, await scripted(journey, {"tool_calls": uses}, {"text": "Never said."}))
    watching, execution = await watch(ferryman, created)
    assert (await ferryman("cancel", execution)).code == 0
    await watching.communicate()
    assert watching.returncode == 4
