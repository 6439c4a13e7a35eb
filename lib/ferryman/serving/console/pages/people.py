"""People: the members of the workspace, who is invited, API keys, and who changed what."""

from __future__ import annotations

from ferryman.serving.console.api_client import ask_together
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{ROOT}/people"
PAGE_MAX = 50


async def show_people(request: ConsoleRequest) -> ConsolePage:
    """Show the members, invitations, the reader's own API keys, and a page of audit entries."""
    api = request.api
    members, invitations, keys, audit = await ask_together(
        api.get("/v1/members", limit=PAGE_MAX),
        api.get("/v1/invitations", limit=PAGE_MAX),
        api.get("/v1/keys", limit=PAGE_MAX),
        api.get("/v1/audit-entries", limit=PAGE_MAX, cursor=request.query.get("cursor")),
    )
    values = {"members": members, "invitations": invitations, "keys": keys, "audit": audit}
    return ConsolePage(template="people.html", title="People", values=values)


async def revoke_key(request: ConsoleRequest) -> Redirect:
    """Revoke an API key."""
    await request.api.delete(f"/v1/keys/{request.read_field('id')}")
    return Redirect(path=PATH, done="revoked")


async def withdraw_invitation(request: ConsoleRequest) -> Redirect:
    """Withdraw an invitation."""
    await request.api.delete(f"/v1/invitations/{request.read_field('id')}")
    return Redirect(path=PATH, done="revoked")


ACTIONS = {"revoke-key": revoke_key, "withdraw": withdraw_invitation}
ROUTES = (ConsoleRoute(path=PATH, show=show_people, section="people", actions=ACTIONS),)
