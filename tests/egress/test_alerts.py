"""Alerts, sent through the gate: signed over the bytes that arrive, to the stored address and no other, and inward to none."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.approvals.notice import ApprovalNotice
from ferryman.domain.credentials.credential import SealedCredential, Secret
from ferryman.domain.credits.alert import Alert
from ferryman.domain.credits.alert_message import generate_secret, label_secret
from ferryman.domain.delivery import ATTEMPTS_MAX, AlertState
from ferryman.domain.owners.cap import CapKind
from ferryman.domain.workspaces.workspace import Workspace, build_default_workspace
from ferryman.inmemory.alerts import MemoryAlerts
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.tools.alerting.notify import send_notice
from ferryman.tools.alerting.send import SendingDependencies, send_alert
from ferryman.vault.seal import PublicKey, build_credential_info, derive_public_key, generate_private_key
from ferryman.vault.vault import Vault
from tests.builders import build_alert
from tests.canaries.canary import create_key
from tests.serving.values import build_approval

from .conftest import PUBLIC, Answer, GateHarness, Names, reply

PRIVATE = generate_private_key()
URL = "https://a.test/hooks/budget?room=1"
ALERT = build_alert()


@dataclass
class AlertStage:
    """A key holder beside a receiver of alerts."""

    harness: GateHarness
    memory: Memory = field(default_factory=Memory)
    secret: Secret = field(default_factory=generate_secret)

    def __post_init__(self) -> None:
        self.harness.names = Names({"a.test": [PUBLIC], "b.test": [PUBLIC]})
        self.memory.alerts[ALERT.id] = ALERT
        self.set_address(URL)

    def set_address(self, url: str | None, *, workspace: str = "w") -> None:
        """Set the address of the alerts of a workspace, with the secret that is sealed for it."""
        stored: Workspace = replace(build_default_workspace("o"), id=workspace, alert_url=url)
        self.memory.workspaces[workspace] = stored
        if url is not None:
            self.seal(stored)

    def seal(self, workspace: Workspace) -> None:
        label = label_secret(workspace)
        ciphertext = PublicKey(1, derive_public_key(PRIVATE)).seal(self.secret.reveal().encode(), build_credential_info(label))
        sealed = SealedCredential(label=label, ciphertext=ciphertext, key_version=1, created_at=START, updated_at=START)
        self.memory.credentials[workspace.id] = {label.name: sealed}

    async def send(self, answer: Answer = reply(), *, alert: str = "alert_1") -> Alert | None:
        """Return the alert after one attempt, with this answer of its receiver."""
        async with self.harness.serve("a.test", answer):
            return await send_alert(self._build(), alert)

    async def notify(self, answer: Answer = reply(), *, approval: str = "appr_o") -> ApprovalNotice | None:
        """Return the notice of an approval likewise."""
        async with self.harness.serve("a.test", answer):
            return await send_notice(self._build(), approval)

    def _build(self) -> SendingDependencies:
        return SendingDependencies(
            alerts=MemoryAlerts(self.memory),
            approvals=MemoryApprovals(self.memory),
            workspaces=MemoryWorkspaces(self.memory),
            credentials=MemoryCredentials(self.memory),
            vault=Vault(MemoryKeyStore({1: PRIVATE})),
            gate=self.harness.gate(),
            clock=ManualClock(),
            tracer=self.harness.log,
        )

    async def settle(self, answer: Answer = reply()) -> Alert:
        after = await self.send(answer)
        assert after is not None
        assert after == self.memory.alerts["alert_1"]
        return after


@pytest.fixture
def alerts(harness: GateHarness) -> AlertStage:
    return AlertStage(harness)


def read_request(stage: AlertStage) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of the one request that the receiver got."""
    ((_, raw),) = stage.harness.requests
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /hooks/budget?room=1 HTTP/1.1"
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}, body


async def test_what_arrives_is_what_was_signed(alerts: AlertStage) -> None:
    after = await alerts.settle(reply(status="204 No Content", body=b""))
    headers, body = read_request(alerts)
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(alerts.secret.reveal().removeprefix("whsec_"))
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()}"
    assert (headers["webhook-id"], headers["content-type"]) == ("alert_1", "application/json")
    assert json.loads(body)["data"]["percent"] == 80
    assert (after.state, after.attempts, after.status) == (AlertState.DELIVERED, 1, 204)


async def test_the_secret_itself_is_neither_sent_nor_logged(alerts: AlertStage) -> None:
    await alerts.settle()
    text = alerts.secret.reveal()
    assert text.encode() not in alerts.harness.requests[0][1]
    assert text not in repr(alerts.harness.log.lines)


async def test_a_settled_alert_is_not_sent_again(alerts: AlertStage) -> None:
    await alerts.settle()
    assert (await alerts.settle()).attempts == 1
    assert len(alerts.harness.requests) == 1


async def test_an_alert_that_there_is_not_is_none(alerts: AlertStage) -> None:
    assert await alerts.send(alert="alert_2") is None
    assert alerts.harness.requests == []


@pytest.mark.parametrize("status", ["301 Moved Permanently", "307 Temporary Redirect"])
async def test_a_redirect_is_not_followed(alerts: AlertStage, status: str) -> None:
    after = await alerts.settle(reply(status=status, headers=["location: https://a.test/other"]))
    assert (after.state, after.status, len(alerts.harness.requests)) == (AlertState.PENDING, int(status[:3]), 1)


async def test_an_error_is_tried_again_with_the_same_id(alerts: AlertStage) -> None:
    assert (await alerts.settle(reply(status="500 Internal Server Error"))).state is AlertState.PENDING
    assert (await alerts.settle()).state is AlertState.DELIVERED
    heads = [request for _, request in alerts.harness.requests]
    assert [b"webhook-id: alert_1" in head.lower() for head in heads] == [True, True]


async def test_after_the_last_attempt_it_has_failed(alerts: AlertStage) -> None:
    alerts.memory.alerts["alert_1"] = replace(ALERT, attempts=ATTEMPTS_MAX - 1)
    after = await alerts.settle(reply(status="503 Service Unavailable"))
    assert (after.state, after.attempts) == (AlertState.FAILED, ATTEMPTS_MAX)


async def test_a_receiver_that_is_gone_is_not_asked_again(alerts: AlertStage) -> None:
    assert (await alerts.settle(reply(status="410 Gone"))).state is AlertState.FAILED


@pytest.mark.parametrize("address", ["10.0.0.7", "127.0.0.1", "169.254.169.254", "::1", "fd00::1"])
async def test_an_address_that_resolves_inward_gets_nothing(alerts: AlertStage, address: str) -> None:
    alerts.harness.names = Names({"a.test": [address]})
    after = await alerts.settle()
    assert (after.state, after.status, alerts.harness.dialer.dialled) == (AlertState.PENDING, None, [])
    assert after.reason
    assert address not in after.reason


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/", "https://169.254.169.254/latest", "http://a.test/", "https://a.test:8443/"]
)
async def test_an_address_that_no_webhook_may_have_gets_nothing(alerts: AlertStage, url: str) -> None:
    alerts.memory.workspaces["w"] = replace(alerts.memory.workspaces["w"], alert_url=url)
    after = await alerts.settle()
    assert (after.state, after.status, alerts.harness.dialer.dialled) == (AlertState.PENDING, None, [])


async def test_an_address_that_was_changed_without_a_secret_of_its_own_gets_nothing(alerts: AlertStage) -> None:
    alerts.memory.workspaces["w"] = replace(alerts.memory.workspaces["w"], alert_url="https://b.test/hooks")
    after = await alerts.settle()
    assert after.reason == "there is no secret for this address: set alert_url again"
    assert alerts.harness.dialer.dialled == []


async def test_a_secret_that_was_moved_from_another_workspace_signs_nothing(alerts: AlertStage) -> None:
    alerts.set_address(URL, workspace="other")
    alerts.memory.credentials["w"] = alerts.memory.credentials["other"]
    assert (await alerts.settle()).reason == "there is no secret for this address: set alert_url again"
    assert alerts.harness.dialer.dialled == []


async def test_without_an_address_an_alert_is_settled_as_that(alerts: AlertStage) -> None:
    alerts.set_address(None)
    after = await alerts.settle()
    assert (after.state, after.settled_at, alerts.harness.dialer.dialled) == (AlertState.UNADDRESSED, START, [])


async def test_an_alert_of_the_plan_goes_to_the_default_workspace(alerts: AlertStage) -> None:
    alerts.memory.alerts["alert_1"] = replace(ALERT, workspace="", kind=CapKind.OWNER, subject="pro")
    alerts.set_address(None)
    alerts.set_address(URL, workspace=build_default_workspace("o").id)
    assert (await alerts.settle()).state is AlertState.DELIVERED
    assert json.loads(read_request(alerts)[1])["data"]["workspace_id"] is None


async def test_the_address_of_another_owner_s_workspace_is_not_used(alerts: AlertStage) -> None:
    alerts.memory.alerts["alert_1"] = replace(ALERT, owner="eve")
    assert (await alerts.settle()).state is AlertState.UNADDRESSED
    assert alerts.harness.dialer.dialled == []


async def test_the_path_of_its_address_is_in_no_line_of_the_log(alerts: AlertStage) -> None:
    path = create_key("the path of an address")
    alerts.set_address(f"https://a.test/services/{path}")
    assert (await alerts.settle()).state is AlertState.DELIVERED
    assert [line["url"] for event, line in alerts.harness.log.lines if event == "call"] == ["https://a.test"]
    assert path not in repr(alerts.harness.log.lines)


def have_asked(alerts: AlertStage, **changes: Any) -> None:
    approval = build_approval("o", workspace="w", **changes)
    alerts.memory.approvals[approval.id] = approval


async def test_a_call_that_waits_is_told_by_ids_its_tool_and_its_host(alerts: AlertStage) -> None:
    have_asked(alerts)
    notice = await alerts.notify(reply(status="204 No Content", body=b""))
    headers, body = read_request(alerts)
    message = json.loads(body)
    assert (message["type"], headers["webhook-id"]) == ("approval.waiting", "appr_o")
    assert message["data"] == {
        **{"approval_id": "appr_o", "workspace_id": "w", "agent_id": "agent_o", "task_id": "task_o", "seq": 0},
        **{"execution_id": "exec_waiting_o", "tool": "http_post", "host": "api.github.com", "path": "/v1/approvals/appr_o"},
        "page": "/console/approvals/appr_o",
        "expires_at": "2026-12-21T12:00:00+00:00",
    }
    assert notice == ApprovalNotice(state=AlertState.DELIVERED, attempts=1, status=204, settled_at=START)


async def test_a_notice_that_was_taken_is_not_sent_again(alerts: AlertStage) -> None:
    have_asked(alerts)
    await alerts.notify(reply(status="204 No Content", body=b""))
    await alerts.notify(reply(status="204 No Content", body=b""))
    assert len(alerts.harness.requests) == 1


async def test_of_what_is_decided_nobody_is_told(alerts: AlertStage) -> None:
    have_asked(alerts, state=ApprovalState.DENIED)
    notice = await alerts.notify()
    assert notice is not None
    assert (notice.state, alerts.harness.requests) == (AlertState.FAILED, [])


async def test_a_workspace_without_an_address_is_not_told(alerts: AlertStage) -> None:
    alerts.set_address(None)
    have_asked(alerts)
    notice = await alerts.notify()
    assert notice is not None
    assert (notice.state, alerts.harness.requests) == (AlertState.UNADDRESSED, [])


async def test_an_approval_that_there_is_not_has_no_notice(alerts: AlertStage) -> None:
    assert await alerts.notify(approval="appr_none") is None
