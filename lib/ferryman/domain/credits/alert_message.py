"""The message of an alert as its receiver gets it: JSON, signed as Standard Webhooks 1.0.0 says (standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ferryman.domain.credentials.credential import AuthType, Label, SealedCredential, Secret
from ferryman.domain.credits.alert import Alert
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.http.url import parse_url
from ferryman.domain.workspaces.workspace import Workspace

TYPE = "budget.alert"
SECRET_NAME = "ALERT_SECRET"  # noqa: S105 - a name, not one
"""Under what the secret of a workspace's alerts is stored, sealed like a credential of a task with the workspace's id."""

SERVICE = "alerts"
_PREFIX = "whsec_"
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSecret:
    """The secret of a workspace's alerts: open for the answer to the request that asked for it, and sealed to be stored."""

    secret: Secret = field(repr=False)
    sealed: SealedCredential


def generate_secret() -> Secret:
    """Return a new secret as receivers are given it: "whsec_" and 32 random bytes in base64."""
    return Secret(_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode())


def label_secret(workspace: Workspace) -> Label:
    """Return the label of the secret of the workspace's alerts, which binds it to the host of their address."""
    assert workspace.alert_url is not None, "a secret is for an address"
    hosts = (parse_url(workspace.alert_url).host,)
    return Label(
        owner=workspace.owner,
        task=workspace.id,
        name=SECRET_NAME,
        version=1,
        service=SERVICE,
        auth_type=AuthType.BEARER,
        hosts=hosts,
    )


def build_body(alert: Alert) -> dict[str, Any]:
    """Return the JSON object that is sent: ids and amounts. Only the id of a conversation is a text that its starter chose.

    An alert of the owner's plan names no execution: it goes to the default workspace, and the execution may be of another one.
    """
    data = {
        "alert_id": alert.id,
        "workspace_id": alert.workspace or None,
        "kind": alert.kind.value,
        "id": alert.subject,
        "month": alert.month,
        "percent": alert.percent,
        "limit": format_credits(alert.limit),
        "credits_used": format_credits(alert.credits_used),
        "credits_reserved": format_credits(alert.credits_reserved),
        "refused": alert.is_refused,
        "execution_id": alert.execution if alert.workspace else None,
    }
    return {"type": TYPE, "timestamp": alert.created_at.isoformat(), "data": data}


def encode_body(body: Mapping[str, Any]) -> bytes:
    """Return the bytes of a body, as the gate writes JSON: they are what is signed."""
    return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()


def sign_message(secret: str, *, message: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of a message: its id, which is the same in each attempt, the time, and the signature of all three.

    Raise ValueError for what is no secret of `generate_secret`.
    """
    if not secret.startswith(_PREFIX):
        raise ValueError("no secret of a webhook")
    key, timestamp = base64.b64decode(secret.removeprefix(_PREFIX), validate=True), str(int(now.timestamp()))
    signed = b".".join((message.encode(), timestamp.encode(), body))
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": message, "webhook-timestamp": timestamp, "webhook-signature": f"v1,{signature}"}
