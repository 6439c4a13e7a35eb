"""Queries of approvals, for the table of all queries."""

from datetime import UTC, datetime, timedelta

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.approvals.standing import StandingApproval
from ferryman.gcp.approvals import FirestoreApprovals
from ferryman.gcp.clients import GoogleClients

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def approvals_listed(clients: GoogleClients) -> None:
    approvals = FirestoreApprovals(clients)
    for chosen in ({}, {"state": ApprovalState.PENDING}, {"execution": "e"}):
        await approvals.list("w", **chosen)
    await approvals.list("w", state=ApprovalState.PENDING, execution="e")
    await approvals.list_of("e")
    await approvals.find_last("w", "http_post")
    await approvals.withdraw("e", now=NOW)


async def standing_approvals_listed(clients: GoogleClients) -> None:
    approvals, until = FirestoreApprovals(clients), NOW + timedelta(days=1)
    standing = StandingApproval(
        id="s", owner="ann", workspace="w", tool="http_post", uses_max=1, by="owner", created_at=NOW, expires_at=until
    )
    await approvals.add_standing(standing, most=9)
    await approvals.list_standing("w")
