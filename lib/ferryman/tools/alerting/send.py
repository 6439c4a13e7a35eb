"""Send an alert: everything that is sent is read from the store, whatever the request says besides the id.

The address is that of the alert's own workspace, and the owner's default one for the plan's cap. It goes through the gate as a
registered webhook does: https, no private address, dialled as it was validated, no redirect followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.credits.alert import Alert
from ferryman.domain.credits.alert_message import SECRET_NAME, build_body, encode_body, sign_message
from ferryman.domain.delivery import AlertState, settle_attempt
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.owners.plan import PRO
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.ports.alerts import Alerts
from ferryman.ports.approvals import Approvals
from ferryman.ports.clock import Clock
from ferryman.ports.credentials import Credentials
from ferryman.ports.gate import CallPolicy, FetchGate
from ferryman.ports.keys import ToolVault
from ferryman.ports.log import Tracer
from ferryman.ports.workspaces import Workspaces

TOOL = "webhook"
WITHIN_S = 15.0
ANSWER_BYTES_MAX = 4_096
"""Of the receiver's answer, of which only the status is used."""

NO_SECRET = Refusal(reason="missing_credential", message="Error: there is no secret for this address: set alert_url again")
STATUS_GONE = 410
"""The receiver does not want any further message (Standard Webhooks)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingDependencies:
    """Everything that sending an alert uses."""

    alerts: Alerts
    approvals: Approvals
    workspaces: Workspaces
    credentials: Credentials
    vault: ToolVault
    gate: FetchGate
    clock: Clock
    tracer: Tracer


async def send_alert(deps: SendingDependencies, alert: str) -> Alert | None:
    """Send `alert` once, unless it is settled, and return it as it is stored then; None for an id that there is not.

    Raise `UnavailableError` where the store or the key store does not answer.
    """
    stored = await deps.alerts.get(alert)
    if stored is None or stored.state is not AlertState.PENDING:
        return stored
    after = await _attempt(deps, stored)
    about = {"alert": alert, "owner": stored.owner, "state": after.state.value, "attempts": after.attempts}
    deps.tracer.line("alert.attempted", status=after.status, reason=after.reason, **about)
    return await deps.alerts.record(after)


async def _attempt(deps: SendingDependencies, alert: Alert) -> Alert:
    workspace = alert.workspace or derive_default_workspace(alert.owner)
    stored = await deps.workspaces.get(workspace, owner=alert.owner)
    url = None if stored is None else stored.alert_url
    if url is None:
        return replace(alert, state=AlertState.UNADDRESSED, attempts=alert.attempts + 1, settled_at=deps.clock.now())
    try:
        status = await post_message(deps, build_body(alert), message=alert.id, owner=alert.owner, workspace=workspace, url=url)
    except CallRefusedError as refused:
        reason = refused.refusal.message.removeprefix("Error: ")
        return settle_attempt(alert, status=None, reason=reason, final=False, now=deps.clock.now())
    return settle_attempt(alert, status=status, reason="", final=status == STATUS_GONE, now=deps.clock.now())


async def _open_secret(deps: SendingDependencies, owner: str, workspace: str, url: str) -> Credential:
    """Return the secret of the workspace's alerts. Raise `CallRefusedError` where there is none for this address."""
    try:
        hosts = (parse_url(url).host,)
    except InvalidUrlError:  # it was checked before it was stored
        raise CallRefusedError(NO_SECRET) from None
    for sealed in await deps.credentials.list(workspace):
        label = sealed.label
        if (label.name, label.owner, label.task, label.hosts) == (SECRET_NAME, owner, workspace, hosts):
            return await deps.vault.open_credential(sealed)
    raise CallRefusedError(NO_SECRET)


async def post_message(
    deps: SendingDependencies, body: Mapping[str, Any], *, message: str, owner: str, workspace: str, url: str
) -> int:
    """Sign a message to the address of the workspace's alerts, send it, and return the status of the receiver's answer.

    Raise `CallRefusedError` where there was none, or there is no secret for the address.
    """
    secret = await _open_secret(deps, owner, workspace, url)
    headers = sign_message(secret.secret.reveal(), message=message, body=encode_body(body), now=deps.clock.now())
    policy = ExecutionPolicy(
        owner=owner,
        task=workspace,
        plan=PRO,  # its limits are for answers; this one has its own
        tools=(TOOL,),
        integrations=(),
        domains=(),
        webhook=True,
        webhook_urls=(url,),
        webhook_match="url",
    )
    outbound = OutboundRequest(tool=TOOL, method=Method.POST, url=url, body=dict(body), fixed_headers=headers)
    call = CallPolicy(
        execution=policy,
        credentials={SECRET_NAME: secret},
        about={"alert": message},
        within_s=WITHIN_S,
        body_max=ANSWER_BYTES_MAX,
    )
    return (await deps.gate.fetch(outbound, call)).status
