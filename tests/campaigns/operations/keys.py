"""More of the keys of a running stack: `make operations`, since each takes ten seconds."""

from __future__ import annotations

import json
from pathlib import Path

from ferryman import verify_receipts
from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_alerts import HOST, await_sent, sign
from tests.journeys.test_command_line import Shell
from tests.journeys.test_keys import ferryman, newest

__all__ = ["ferryman"]


async def test_receipts_of_before_and_after_a_rotation_are_verified(journey: Journey, ferryman: Shell, tmp_path: Path) -> None:
    await journey.serve("api.coingecko.com")
    documents = []
    for turn in range(2):
        uses = asks(call("http_get", url=journey.url("api.coingecko.com")))
        task = await journey.task(uses, says("Done."), tools=["http_get"], integrations=["coingecko"])
        documents.append(await journey.client.get_receipts((await journey.run(task))["execution_id"]))
        if turn == 0:
            rotated = await ferryman("keys", "rotate", "receipts", "--json")
            assert rotated.code == 0, rotated.err
    keys = tmp_path / "keys.txt"
    keys.write_text("\n".join(f"{number}:{key}" for number, key in (await journey.client.list_receipt_keys()).items()))
    for number, document in enumerate(documents):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(document))
        assert verify_receipts.main([f"--public-key={keys}", "--", str(file)]) == 0
    assert documents[0]["entries"][0]["key"] != documents[1]["entries"][0]["key"]


async def test_the_doctor_says_that_a_rotation_was_not_finished(journey: Journey, ferryman: Shell) -> None:
    secrets = journey.clients.secrets()
    parent = f"projects/{journey.stack['project']}/secrets/ferryman-sealing-key"
    current = (await newest(ferryman, "sealing"))["version"]
    stored = await secrets.access_secret_version(request={"name": f"{parent}/versions/{current}"})
    await secrets.add_secret_version(request={"parent": parent, "payload": {"data": stored.payload.data}})
    looked = await ferryman("doctor", "--json")
    assert any("not finished" in item["seen"] for item in looked.json["findings"] if item["of"] == "sealing key")
    assert looked.json["verdict"] == "warning"
    rotated = await ferryman("keys", "rotate", "--json")
    assert rotated.json["version"] == current + 1
    assert (await ferryman("doctor", "--json")).json["verdict"] == "ok"


async def test_alerts_are_signed_with_the_same_secret_after_a_rotation(journey: Journey, ferryman: Shell) -> None:
    await journey.serve(HOST, body="ok")
    (workspace,) = [workspace["workspace_id"] async for workspace in journey.client.iterate_workspaces()]
    change = {"max_credits_month": "50", "alert_url": journey.url(HOST)}
    secret = (await journey.client.change_workspace(workspace, change))["alert_secret"]
    task = await journey.task(says("never"))
    await journey.run(task)
    await await_sent(journey)

    rotated = (await ferryman("keys", "rotate", "--json")).json

    document = journey.clients.firestore().document(f"tasks/{workspace}/credentials/ALERT_SECRET")
    assert ((await document.get()).to_dict() or {})["key_version"] == rotated["version"]
    assert workspace not in [where for where, _ in rotated["unreadable"]]
    versions = (await ferryman("keys", "list", "--json")).json
    enabled = [key["version"] for key in versions if (key["key"], key["state"]) == ("sealing", "enabled")]
    assert enabled == [rotated["version"]]
    await journey.client.change_workspace(workspace, {"max_credits_month": "40"})
    await journey.run(task)
    assert (await await_sent(journey, number=2))["state"] == "delivered"
    requests = await journey.received(HOST)
    signatures = [dict(request["headers"])["webhook-signature"] for request in requests]
    assert signatures == [sign(secret, request) for request in requests]
    assert len(requests) == 2
