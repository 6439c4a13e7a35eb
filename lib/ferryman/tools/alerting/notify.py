"""Notify a workspace of a call that waits for a person, by the way of its alerts: everything is read from the store."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.notice import DECIDED, ApprovalNotice
from ferryman.domain.approvals.notice_message import build_notice_body
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.delivery import AlertState, settle_attempt
from ferryman.tools.alerting.send import STATUS_GONE, SendingDependencies, post_message


async def send_notice(deps: SendingDependencies, approval: str) -> ApprovalNotice | None:
    """Send the notice of `approval` once, unless it is settled, and return it as it is stored then; None where there is none.

    Raise `UnavailableError` where the store or the key store does not answer.
    """
    stored = await deps.approvals.get(approval)
    if stored is None or stored.notice.state is not AlertState.PENDING:
        return None if stored is None else stored.notice
    after = await _attempt(deps, stored)
    about = {"approval": approval, "owner": stored.owner, "state": after.state.value, "attempts": after.attempts}
    deps.tracer.line("notice.attempted", status=after.status, reason=after.reason, **about)
    return await deps.approvals.record_notice(approval, after)


async def _attempt(deps: SendingDependencies, approval: Approval) -> ApprovalNotice:
    notice, now = approval.notice, deps.clock.now()
    if approval.state is not ApprovalState.PENDING:
        return settle_attempt(notice, status=None, reason=DECIDED, final=True, now=now)
    workspace = await deps.workspaces.get(approval.workspace, owner=approval.owner)
    url = None if workspace is None else workspace.alert_url
    if url is None:
        return replace(notice, state=AlertState.UNADDRESSED, attempts=notice.attempts + 1, settled_at=now)
    place = {"owner": approval.owner, "workspace": approval.workspace}
    try:
        status = await post_message(deps, build_notice_body(approval), message=approval.id, url=url, **place)
    except CallRefusedError as refused:
        reason = refused.refusal.message.removeprefix("Error: ")
        return settle_attempt(notice, status=None, reason=reason, final=False, now=deps.clock.now())
    return settle_attempt(notice, status=status, reason="", final=status == STATUS_GONE, now=deps.clock.now())
