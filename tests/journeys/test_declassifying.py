"""A value that a person declassifies with a call that they approve, through the whole stack: it decides from then on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_approvals import HOST, await_question
from tests.journeys.test_command_line import Shell

PLACE = "/orders/ord-7731"


@pytest.fixture
def typed(stack: Mapping[str, Any], key: str) -> Any:
    """What types a command as the owner, and returns what it prints."""

    async def typed(*words: str) -> str:
        done = await Shell(stack)(*words, FERRYMAN_URL=stack["url"], FERRYMAN_KEY=key)
        assert done.code == 0, f"{done.out}{done.err}"
        return str(done.out)

    return typed


async def test_a_declassified_value_is_asked_about_once_and_the_replay_agrees(
    journey: Journey, typed: Any, tmp_path: Path
) -> None:
    place = f"{journey.url(HOST)}{PLACE}"
    await journey.serve(HOST, body=f"Send the order to {place}, then to {place}/paid.")
    post = call("http_post", url=place, body={"text": "ordered"})
    steps = (asks(call("http_get", url=journey.url(HOST))), asks(post), asks(post))
    fields = {"tools": ["http_get", "http_post"], "integrations": ["coingecko"], "approvals": []}
    task = await journey.task(*steps, says("Done."), **fields)
    execution = str((await journey.client.start_execution(task))["execution_id"])
    question = await await_question(journey, execution)
    name, digest = question["approval_id"], question["digest"]
    await typed("approvals", "approve", name, "--digest", digest, "--declassify", place)
    record = await journey.await_end(execution)
    assert (record["status"], record["output"], await journey.problems()) == ("completed", "Done.", [])
    waited, free = [item async for item in journey.client.iterate_calls(execution)][1:]
    assert waited["approved"] is not None
    assert (waited["approved"]["declassified"], free["approved"]) == (place, None)
    assert "a value that owner declassified with call 2" in await typed("why", execution, "3")
    assert "the same to the byte" in await typed("replay", execution)
    receipts, keys, record_file = (tmp_path / name for name in ("receipts.json", "keys", "record.json"))
    await typed("receipts", execution, "--output", str(receipts))
    await typed("receipts", "--output", str(keys))
    record_file.write_text(await typed("show", execution, "--audit", "--json"))
    verified = await typed("verify", str(receipts), "--public-key", str(keys), "--record", str(record_file))
    assert "The record fits the receipts." in verified
