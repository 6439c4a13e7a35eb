"""What becomes of the alert of a scenario's workspace: it is awaited, attacked, and asked for in every answer of the API."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from ferryman.gcp.alerts import FirestoreAlerts
from tests.campaigns.hostile.harness import Harness

POLL_S = 0.2
PATHS = ("/v1/alerts", "/v1/alerts?of=plan", "/v1/audit-entries", "/v1/budget", "/v1/agents", "/v1/keys", "/v1/jobs")
"""What tells an owner of alerts, or of what was changed: neither the address nor the secret is there."""


def take_secret(words: dict[str, str], body: bytes) -> bytes:
    """Note the secret that an answer tells when an address is set; return the rest, which is searched for it."""
    try:
        answer = json.loads(body)
    except ValueError:
        return body
    if not isinstance(answer, dict) or not answer.get("alert_secret"):
        return body
    words["alert_secret"] = answer["alert_secret"]
    return hide_address(words, json.dumps({**answer, "alert_secret": None}).encode())


async def await_attempt(harness: Harness, owner: str, workspace: str) -> str:
    """Return the id of the workspace's alert once it was sent, or could not be, for the first time."""
    alerts = FirestoreAlerts(harness.clients)
    while True:
        stored: Any = (await alerts.list(owner, workspace)).items
        if stored and stored[0].attempts:
            return str(stored[0].id)
        await asyncio.sleep(POLL_S)


async def ask_everywhere(harness: Harness, bearer: dict[str, str], words: dict[str, str]) -> list[bytes]:
    """Return what the API answers the owner afterwards; of the workspace itself without the address, which it may show."""
    answers = [await harness.http.get(harness.url + path, headers=bearer) for path in PATHS]
    workspaces = [
        await harness.http.get(harness.url + path, headers=bearer)
        for path in ("/v1/workspaces", f"/v1/workspaces/{words['workspace']}")
    ]
    for answer in (*answers, *workspaces):
        assert answer.is_success, f"{answer.request.url.path} answered {answer.status_code}"
    return [*(answer.content for answer in answers), *(hide_address(words, answer.content) for answer in workspaces)]


def hide_address(words: dict[str, str], body: bytes) -> bytes:
    """Return an answer without the key that the owner wrote into the address of the alerts."""
    return body.replace(words["canary"].encode(), b"")
