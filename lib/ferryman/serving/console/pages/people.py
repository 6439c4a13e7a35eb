"""People: the members of the workspace, invitations, API keys, identities, and the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.approvals.visible import show_text
from ferryman.domain.workspaces.api_key import KEY_DAYS_MAX, KEY_NAME_CHARACTERS_MAX
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.person import PERSON_NAME_CHARACTERS_MAX
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.form_fields import (
    FormField,
    list_problems,
    read_body,
    read_id,
    repeat_values,
    require_consent,
    write_values,
)
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, PageHandler, Redirect

PATH = f"{ROOT}/people"
PAGE_MAX = 50

ROLES = tuple((role.value, role.value) for role in Role)
ROLE_FIELDS = (
    FormField(
        name="role",
        label="Role",
        kind="choice",
        options=ROLES,
        help="A viewer reads, an operator also runs, an admin also changes settings",
    ),
    FormField(name="approves", label="May approve and deny calls that wait for a person", kind="check"),
)
INVITATION_FIELDS = (
    FormField(
        name="name",
        label="Name",
        is_required=True,
        help=f"Shown to the other members; at most {PERSON_NAME_CHARACTERS_MAX} characters",
    ),
    *ROLE_FIELDS,
)
MEMBER_FIELDS = (
    *ROLE_FIELDS,
    FormField(
        name="max_credits_month",
        label="Monthly credit limit",
        kind="number",
        help="Empty: only the limits of the workspace and the plan",
        when_empty="null",
    ),
)
KEY_FIELDS = (
    FormField(
        name="name", label="Name", is_required=True, help=f"What the key is for; at most {KEY_NAME_CHARACTERS_MAX} characters"
    ),
    FormField(
        name="tools",
        label="Allowed tools",
        kind="lines",
        help="At /mcp; one name or category:NAME per line. Empty: all",
        when_empty="null",
    ),
    FormField(
        name="expires_in_days",
        label="Expires after (days)",
        kind="number",
        help=f"1 to {KEY_DAYS_MAX:,}. Empty: when your own key expires",
        when_empty="null",
    ),
)
IDENTITY_FIELDS = (
    FormField(name="access_token", label="Access token", kind="secret", help="It is not stored", is_required=True),
)
RIGHTS = tuple(right.value for right in Right)


async def show_people(request: ConsoleRequest) -> ConsolePage:
    """Show the members, invitations, API keys (of all people where the query says so), and a page of audit entries."""
    return await _show(request)


async def invite(request: ConsoleRequest) -> ConsolePage:
    """Invite a person, and show the token once."""
    return await _create(request, "/v1/invitations", "invitation", INVITATION_FIELDS, "token")


async def withdraw_invitation(request: ConsoleRequest) -> Redirect:
    """Withdraw an invitation."""
    await request.api.delete(f"/v1/invitations/{read_id(request.form, 'id')}")
    return Redirect(path=PATH, done="revoked")


async def create_key(request: ConsoleRequest) -> ConsolePage:
    """Make an API key with the scopes whose boxes were ticked, and show it this once."""
    scopes = [right for right in request.form.get("scopes", ()) if right in RIGHTS]
    return await _create(request, "/v1/keys", "key", KEY_FIELDS, "key", {"scopes": scopes} if scopes else {})


async def revoke_key(request: ConsoleRequest) -> Redirect:
    """Revoke an API key."""
    await request.api.delete(f"/v1/keys/{read_id(request.form, 'id')}")
    return Redirect(path=PATH, done="revoked")


async def link_identity(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Link an identity of the authorization server with the person who is signed in."""
    try:
        await request.api.post("/v1/identities", read_body(IDENTITY_FIELDS, request.form), once=request.read_field("once"))
    except ApiProblemError as error:
        return await _show(request, form="identity", refused=error)
    return Redirect(path=PATH, done="saved")


async def unlink_identity(request: ConsoleRequest) -> Redirect:
    """End the link of an identity."""
    await request.api.delete(f"/v1/identities/{read_id(request.form, 'id')}")
    return Redirect(path=PATH, done="revoked")


async def show_member(request: ConsoleRequest) -> ConsolePage:
    """Show a member with the role and limits that can be changed."""
    return await _show_member(request)


async def change_member(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store the role, the right to approve and the limit that were chosen."""
    try:
        await request.api.patch(f"/v1/members/{request.params['person']}", read_body(MEMBER_FIELDS, request.form))
    except ApiProblemError as error:
        return await _show_member(request, error)
    return Redirect(path=request.path, done="saved")


async def remove_member(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Remove the member, where the box of the form was ticked; their executions end, or are taken over."""
    require_consent(request.form)
    try:
        path = f"/v1/members/{request.params['person']}"
        job = await request.api.delete(path, executions=request.read_field("executions"))
    except ApiProblemError as error:
        return await _show_member(request, error)
    return Redirect(path=f"{ROOT}/jobs/{job['job_id']}", done="deleting")


async def _create(
    request: ConsoleRequest,
    path: str,
    form: str,
    fields: Sequence[FormField],
    secret: str,
    more: dict[str, Any] | None = None,
) -> ConsolePage:
    """Create what the form says, and show its secret on the same page: it is in no address and in no list."""
    try:
        body = read_body(fields, request.form) | (more or {})
        created = await request.api.post(path, body, once=request.read_field("once"))
    except ApiProblemError as error:
        return await _show(request, form=form, refused=error)
    return await _show(request, secret={"form": form, "name": created["name"], "text": created[secret]})


async def _show(
    request: ConsoleRequest, *, form: str = "", refused: ApiProblemError | None = None, secret: Any = None
) -> ConsolePage:
    """Return the page; `form` is the one that was refused, and has what was typed in it."""
    api, everybody = request.api, request.query.get("everybody") == "1"
    members, invitations, keys, identities, audit, me = await ask_together(
        api.get("/v1/members", limit=PAGE_MAX, cursor=request.query.get("members")),
        api.get("/v1/invitations", limit=PAGE_MAX, cursor=request.query.get("invitations")),
        api.get("/v1/keys", limit=PAGE_MAX, cursor=request.query.get("keys"), everybody=everybody or None),
        api.get("/v1/identities", limit=PAGE_MAX),
        api.get("/v1/audit-entries", limit=PAGE_MAX, cursor=request.query.get("cursor")),
        api.get("/v1/me"),
    )
    forms = {"invitation": INVITATION_FIELDS, "key": KEY_FIELDS, "identity": IDENTITY_FIELDS}
    typed = {
        name: repeat_values(fields, request.form if name == form else {}) | ({} if name == form else _START.get(name, {}))
        for name, fields in forms.items()
    }
    values = {
        "members": members,
        "invitations": invitations,
        "keys": keys,
        "identities": identities,
        "audit": audit,
        "me": me,
        "everybody": everybody,
        "forms": forms,
        "typed": typed,
        "scopes": request.form.get("scopes", ()) if form == "key" else (),
        "refused_form": form,
        "errors": list_problems(refused),
        "secret": secret,
        "names": {item["person_id"]: item["name"] for item in members["members"]},
    }
    return ConsolePage(template="people.html", title="People", values=values, status=200 if refused is None else refused.status)


_START = {"invitation": {"role": Role.OPERATOR.value}}


async def _show_member(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    member, me = await ask_together(request.api.get(f"/v1/members/{request.params['person']}"), request.api.get("/v1/me"))
    values = {
        "member": member,
        "me": me,
        "fields": MEMBER_FIELDS,
        "values": write_values(MEMBER_FIELDS, member) if refused is None else repeat_values(MEMBER_FIELDS, request.form),
        "errors": list_problems(refused),
        "here": f"{PATH}/{member['person_id']}",
    }
    status = 200 if refused is None else refused.status
    name = show_text(member["name"] or member["person_id"])
    return ConsolePage(template="member.html", title=name, values=values, status=status)


ACTIONS: Mapping[str, PageHandler] = {
    "invite": invite,
    "withdraw": withdraw_invitation,
    "create-key": create_key,
    "revoke-key": revoke_key,
    "link": link_identity,
    "unlink": unlink_identity,
}
ROUTES = (
    ConsoleRoute(path=PATH, show=show_people, section="people", actions=ACTIONS),
    ConsoleRoute(
        path=f"{PATH}/{{person}}",
        show=show_member,
        section="people",
        actions={"change": change_member, "remove": remove_member},
    ),
)
