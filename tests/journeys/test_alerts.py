"""An alert, through the whole stack: a cap refuses an execution, and its workspace's receiver gets the signed message of it."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from hmac import new
from typing import Any

from tests.journeys.conftest import Journey, says

HOST = "hooks.slack.com"
WAIT_MAX_S = 60


async def await_sent(journey: Journey, *, number: int = 1) -> dict[str, Any]:
    """Return the newest alert of the workspace once there are so many, and it is settled."""
    async with asyncio.timeout(WAIT_MAX_S):
        while True:
            alerts = [alert async for alert in journey.client.iterate_alerts()]
            if len(alerts) >= number and alerts[0]["state"] != "pending":
                assert len(alerts) == number
                return dict(alerts[0])
            await asyncio.sleep(0.05)


def sign(secret: str, request: Mapping[str, Any]) -> str:
    """Return the signature that a received message has to have."""
    headers = dict(request["headers"])
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{request['body']}".encode()
    return "v1," + b64encode(new(b64decode(secret.removeprefix("whsec_")), signed, sha256).digest()).decode()


async def test_a_cap_that_refuses_an_execution_is_told_to_the_receiver_of_its_workspace(journey: Journey) -> None:
    await journey.serve(HOST, body="ok")
    (workspace,) = [workspace async for workspace in journey.client.iterate_workspaces()]
    change = {"max_credits_month": "50", "alert_url": journey.url(HOST)}
    changed = await journey.client.change_workspace(workspace["workspace_id"], change)
    record = await journey.run(await journey.task(says("never")))
    assert record["error"] == (
        "100 credits do not fit: the workspace may use 50 credits a month, of which 0 are used and 0 reserved; lower "
        "max_credits of the task to 50 or less, or raise max_credits_month of the workspace"
    )
    alert = await await_sent(journey)
    assert (alert["state"], alert["percent"], alert["refused"], alert["attempts"]) == ("delivered", 100, True, 1)
    (request,) = await journey.received(HOST)
    headers = dict(request["headers"])
    assert headers["webhook-id"] == alert["alert_id"]
    assert headers["webhook-signature"] == sign(changed["alert_secret"], request)
    assert json.loads(request["body"])["data"]["execution_id"] == record["execution_id"]
    (budget,) = [row for row in (await journey.client.get_budget())["budgets"] if row["kind"] == "workspace"]
    assert (budget["limit"], budget["credits_used"], budget["credits_left"]) == ("50", "0", "50")
