"""The record of a run through the whole stack: shown whole, exported without a secret, replayed elsewhere to the byte."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ferryman.client import AsyncClient
from tests.journeys.conftest import KEY, Journey, asks, call, says
from tests.journeys.test_command_line import Shell

HOST = "api.stripe.com"
ENCODED = (KEY, KEY[::-1], KEY.encode().hex(), base64.b64encode(KEY.encode()).decode())


@pytest.fixture
def ferryman(stack: Mapping[str, Any]) -> Shell:
    return Shell(stack)


@pytest.fixture
async def local(ferryman: Shell, journey: Journey) -> AsyncIterator[Journey]:
    """The journey of the stack's own owner, as whom the commands ask."""
    async with AsyncClient(ferryman.stack["url"], ferryman.key) as client:
        yield Journey(admin=journey.admin, clients=journey.clients, client=client, stack=journey.stack)


async def ran(local: Journey) -> str:
    """Return an execution with a keyed POST that is echoed, three refusals and a repetition."""
    await local.admin.serve_routes(HOST, [{"method": "*", "path": local.path, "echo": True}])
    paid = {"url": local.url(HOST), "credential": "STRIPE_SECRET_KEY"}
    post = call("api_call", method="POST", body={"amount": 5}, **paid)
    steps = (
        asks(post, call("http_get", url="https://elsewhere.example/"), call("telepathy", thought="ls")),
        asks(*[call("api_call", method="GET", **paid)] * 3, expect=("[redacted:STRIPE_SECRET_KEY]",)),
        says("Paid. Really."),
    )
    task = await local.task(*steps, tools=["api_call", "http_get"], integrations=["stripe"])
    await local.credential(task, "STRIPE_SECRET_KEY", "stripe")
    return str((await local.run(task))["execution_id"])


async def test_a_run_is_accounted_for_exported_and_replayed_elsewhere(ferryman: Shell, local: Journey, tmp_path: Path) -> None:
    execution = await ran(local)
    (posted,) = [request for request in await local.received(HOST) if request["method"] == "POST"]
    names = {name.lower(): value for name, value in posted["headers"]}
    assert (names["authorization"], names["idempotency-key"]) == (f"Bearer {KEY}", f"{execution}-0")

    audit_document = (await ferryman("show", execution, "--audit", "--json")).json
    assert [call["result"]["block_reason"] for call in audit_document["calls"]] == [
        None,
        "url_blocked",
        "unknown_tool",
        None,
        None,
        "repeated_call",
    ]
    amounts = [Decimal(posting["credits"]) for entry in audit_document["ledger"] for posting in entry["postings"]]
    assert (sum(amounts), len(audit_document["ledger"])) == (0, 5)
    audit = (await ferryman("show", execution, "--audit")).out
    for text in ("turn 3", "Paid. Really.", "refused: repeated_call", "attempt 1", "sum to 0", "api_call_fee", "tool_use"):
        assert text in audit, audit

    same = await ferryman("replay", execution)
    assert (same.code, "the same to the byte: 3 turns, 6 calls, completed" in same.out) == (0, True), same.out + same.err

    file = tmp_path / "run.json"
    assert (await ferryman("export", execution, "--output", str(file))).code == 0
    assert [pattern for pattern in ENCODED if pattern in file.read_text() + audit] == []
    elsewhere = await ferryman("replay", str(file), "--json", FERRYMAN_DATA=str(tmp_path))
    assert (elsewhere.code, elsewhere.json["same"]) == (0, True)

    changed = file.read_text().replace("Paid. Really.", "Paid. really.", 1)
    file.write_text(changed)
    otherwise = await ferryman("replay", str(file), "--json", FERRYMAN_DATA=str(tmp_path))
    assert (otherwise.code, otherwise.json["same"]) == (1, False)
    assert any("Paid. really." in line for line in otherwise.json["differences"])

    watched = await ferryman("watch", execution, "--json")
    kinds = [json.loads(line)["event"] for line in watched.out.splitlines()[:-1]]
    assert (watched.code, kinds[0], kinds[-1], len(kinds)) == (0, "started", "finished", len(audit_document["events"]))
    assert [event async for event in local.client.stream_events(execution, after=len(kinds))] == []
