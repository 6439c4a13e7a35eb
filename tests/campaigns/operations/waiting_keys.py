"""Keys of a running stack are rotated while a call waits for a person: `make operations`, since each takes ten seconds.

On a stack of their own: another deployment that shares the secrets of this one would have the api sign with a key that is not
published here.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_approvals import ALWAYS, HOST, await_question, start
from tests.journeys.test_command_line import Shell
from tests.journeys.test_keys import ferryman, newest

__all__ = ["ferryman"]


async def approve(journey: Journey, question: Any) -> None:
    await journey.client.decide_approval(question["approval_id"], "approve", question["digest"])


async def rotate(ferryman: Shell, *words: str) -> Any:
    rotated = await ferryman("keys", "rotate", *words, "--json")
    assert rotated.code == 0, rotated.err
    return rotated.json


async def await_version(ferryman: Shell, version: int) -> None:
    """Wait until the sealing key has this version."""
    while (await newest(ferryman, "sealing"))["version"] < version:
        continue  # each look is a process of its own


async def test_a_rotation_of_the_sealing_key_waits_until_a_person_has_decided(journey: Journey, ferryman: Shell) -> None:
    before = (await newest(ferryman, "sealing"))["version"]
    execution = await start(journey, says("Done.", expect=("ok",)))
    question = await await_question(journey, execution)
    rotating = asyncio.ensure_future(rotate(ferryman))
    await await_version(ferryman, before + 1)
    versions = (await ferryman("keys", "list", "--json")).json
    states = {row["version"]: (row["state"], row["calls_under_way"]) for row in versions if row["key"] == "sealing"}
    assert (states[before], rotating.done()) == (("enabled", 1), False)

    await approve(journey, question)

    record = await journey.await_end(execution)
    assert (record["status"], record["output"], await journey.problems()) == ("completed", "Done.", [])
    assert len(await journey.received(HOST)) == 1
    assert (await rotating)["retired"] == [before]


async def test_a_call_that_waits_is_approved_under_the_next_key_for_decisions(journey: Journey, ferryman: Shell) -> None:
    execution = await start(journey, says("Done.", expect=("ok",)))
    question = await await_question(journey, execution)
    await rotate(ferryman, "decisions")
    await rotate(ferryman, "decisions")
    await approve(journey, question)
    record = await journey.await_end(execution)
    assert (record["status"], record["output"], await journey.problems()) == ("completed", "Done.", [])
    assert len(await journey.received(HOST)) == 1


async def test_what_was_approved_beforehand_is_asked_about_again_after_two_rotations(journey: Journey, ferryman: Shell) -> None:
    await journey.client.create_standing_approval("http_post", 5, 1, hosts=[HOST])
    await journey.serve(HOST)
    post = call("http_post", url=journey.url(HOST), body={"amount": 100})
    fields = {"tools": ["http_post"], "integrations": ["coingecko"], "approvals": ALWAYS}
    task = await journey.task(asks(post), says("Done.", expect=("ok",)), **fields)
    await rotate(ferryman, "decisions")
    assert (await journey.run(task))["output"] == "Done."
    await rotate(ferryman, "decisions")
    execution = str((await journey.client.start_execution(task))["execution_id"])

    question = await await_question(journey, execution)

    assert len(await journey.received(HOST)) == 1
    await approve(journey, question)
    assert (await journey.await_end(execution))["output"] == "Done."
    assert len(await journey.received(HOST)) == 2
