"""A call that waits for a person, through the whole stack: approved, denied, edited, and as docs/approvals.md has it."""

from __future__ import annotations

import asyncio
import functools
import json
import re
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import FERRYMAN, Journey, asks, call, says
from tests.journeys.test_command_line import Shell

HOST = "api.coingecko.com"
PAGE = Path(__file__).parents[2] / "docs/approvals.md"
ALWAYS = [{"mode": "always", "tools": ["http_post"]}]


Decide = Callable[..., Awaitable[None]]


@pytest.fixture
def decide(stack: Mapping[str, Any], key: str) -> Decide:
    """What decides about an approval from the command line, as the owner."""

    async def decide(verdict: str, question: Mapping[str, Any], *words: str) -> None:
        named = (verdict, question["approval_id"], "--digest", question["digest"], *words)
        done = await Shell(stack)("approvals", *named, FERRYMAN_URL=stack["url"], FERRYMAN_KEY=key)
        assert done.code == 0, done.err

    return decide


async def start(journey: Journey, *steps: Mapping[str, Any]) -> str:
    """Return an execution whose first call is a POST that waits."""
    await journey.serve(HOST)
    post = call("http_post", url=journey.url(HOST), body={"amount": 100})
    fields = {"tools": ["http_post"], "integrations": ["coingecko"], "approvals": ALWAYS}
    task = await journey.task(asks(post), *steps, **fields)
    return str((await journey.client.start_execution(task))["execution_id"])


async def await_question(journey: Journey, execution: str, *, after: str = "") -> Mapping[str, Any]:
    """Return the approval that the execution waits for, other than `after`."""
    while True:
        waiting_for = (await journey.client.get_execution(execution))["waiting_for"]
        if waiting_for not in (None, "", after):
            return await journey.client.get_approval(waiting_for)
        await asyncio.sleep(0.1)


async def test_an_approved_call_is_sent_exactly_once(journey: Journey, decide: Decide) -> None:
    execution = await start(journey, says("Done.", expect=("ok",)))
    question = await await_question(journey, execution)
    assert await journey.received(HOST) == []
    await decide("approve", question)
    record = await journey.await_end(execution)
    assert (record["status"], record["output"], await journey.problems()) == ("completed", "Done.", [])
    assert [json.loads(request["body"]) for request in await journey.received(HOST)] == [{"amount": 100}]
    (sent,) = [item async for item in journey.client.iterate_calls(execution)]
    assert sent["approved"] is not None
    assert (sent["approved"]["by"], sent["approved"]["digest"]) == ("owner", question["digest"])


async def test_a_denied_call_is_not_sent_and_the_model_reads_why(journey: Journey, decide: Decide) -> None:
    execution = await start(journey, says("I will not.", expect=("denied it", "not on a Sunday")))
    question = await await_question(journey, execution)
    await decide("deny", question, "--reason", "not on a Sunday")
    record = await journey.await_end(execution)
    assert (record["output"], await journey.problems(), await journey.received(HOST)) == ("I will not.", [], [])


async def test_an_edited_call_is_asked_about_itself(journey: Journey, decide: Decide, tmp_path: Path) -> None:
    execution = await start(journey, says("Done.", expect=("changed the arguments",)))
    question = await await_question(journey, execution)
    file = tmp_path / "arguments.json"
    file.write_text(json.dumps({"url": journey.url(HOST), "body": {"amount": 1}}))
    await decide("edit", question, "--arguments", str(file))
    again = await await_question(journey, execution, after=question["approval_id"])
    assert (again["digest"] != question["digest"], await journey.received(HOST)) == (True, [])
    await decide("approve", again)
    record = await journey.await_end(execution)
    assert (record["output"], await journey.problems()) == ("Done.", [])
    assert [json.loads(request["body"]) for request in await journey.received(HOST)] == [{"amount": 1}]


async def test_a_call_that_is_approved_beforehand_does_not_wait(journey: Journey) -> None:
    await journey.client.create_standing_approval("http_post", 1, 1, hosts=[HOST])
    execution = await start(journey, says("Done.", expect=("ok",)))
    record = await journey.await_end(execution)
    assert (record["output"], len(await journey.received(HOST))) == ("Done.", 1)
    (sent,) = [item async for item in journey.client.iterate_calls(execution)]
    assert sent["approved"] is not None
    assert sent["approved"]["is_standing"]


async def test_a_watcher_is_told_that_it_waits_and_what_was_decided(journey: Journey, decide: Decide) -> None:
    execution = await start(journey, says("Done."))
    events = []
    async for event in journey.client.stream_events(execution):
        if event.kind in ("waiting", "decided"):
            events.append((event.kind, event.body.get("verdict")))
        if event.kind == "waiting":
            await decide("approve", await journey.client.get_approval(event.body["approval"]))
    assert events == [("waiting", None), ("decided", "approved")]


async def test_what_waits_when_an_execution_is_cancelled_is_withdrawn(journey: Journey) -> None:
    execution = await start(journey)
    question = await await_question(journey, execution)
    await journey.client.cancel_execution(execution)
    record = await journey.await_end(execution)
    assert (record["status"], await journey.received(HOST)) == ("killed", [])
    assert (await journey.client.get_approval(question["approval_id"]))["state"] == "withdrawn"


async def test_the_commands_of_the_page_work_as_typed(stack: Mapping[str, Any]) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    typed = "\n".join(["set -euo pipefail", *blocks])
    variables = {"FERRYMAN_DATA": str(stack["data"]), "PATH": f"{FERRYMAN.parent}:/usr/bin:/bin"}
    words = ["bash", "-c", typed]
    run = functools.partial(subprocess.run, words, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    done = await asyncio.to_thread(run)
    out = str(done.stdout)
    assert done.returncode == 0, f"{out}{done.stderr}"
    assert "What is sent" in out
    assert "approved   http_post by owner" in out
    assert "I have asked for an alert" in out
    revoked = re.search(r"stand_[0-9a-f]+", out)
    assert revoked is not None
    assert (await Shell(stack)("approvals", "standing", "revoke", revoked[0])).code == 0
