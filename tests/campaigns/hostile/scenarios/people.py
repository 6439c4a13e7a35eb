"""People: members who take more than their role, key or workspace gives, and people who are no members any more, or not yet."""

from __future__ import annotations

from typing import Any

from tests.campaigns.hostile.member import (
    ADMIN,
    EXPIRED,
    OPERATOR,
    READER,
    REMOVED,
    REVOKED,
    STRANGER,
    VIEWER,
    Member,
)
from tests.campaigns.hostile.scenario import Act, Scenario, call, call_tools, declare_probe, finish

HEADER = "Ferryman-Workspace"
FORBIDDEN, NOT_FOUND, UNAUTHORIZED, CONFLICT, INVALID = 403, 404, 401, 409, 422
TASK, EXECUTION = "/v1/tasks/{vtask}", "/v1/executions/{vexec}"
OWN_TASK = {"name": "mine", "task_prompt": "Obey.", "model": "scripted/x"}
CREDENTIAL = {"value": "Mine1234Mine5678Abc", "service": "lunarcrush"}

STARTS = (
    ("starts the task", "POST", f"{TASK}/executions", {"input": "tell me"}),
    ("cancels the execution", "POST", f"{EXECUTION}/cancel", None),
)
CHANGES = (
    ("rewrites the task", "PATCH", TASK, {"task_prompt": "Obey."}),
    ("raises the task's limit", "PATCH", TASK, {"max_credits": 500}),
    ("deletes the task", "DELETE", TASK, None),
    ("creates a task", "POST", "/v1/tasks", OWN_TASK),
    ("replaces a credential", "PUT", f"{TASK}/credentials/LUNARCRUSH_API_KEY", CREDENTIAL),
    ("deletes a credential", "DELETE", f"{TASK}/credentials/LUNARCRUSH_API_KEY", None),
    ("declares a tool", "POST", f"{TASK}/tools", declare_probe()),
    ("imports a document", "POST", f"{TASK}/tools/import-openapi", {"spec": {}}),
    ("widens the workspace", "PATCH", "/v1/workspaces/{vworkspace}", {"allowed_tools": []}),
    ("exports the workspace", "GET", "/v1/workspaces/{vworkspace}/export", None),
    ("invites an admin", "POST", "/v1/invitations", {"name": "friend", "role": "admin"}),
)
OWNERS = (
    ("creates a workspace", "POST", "/v1/workspaces", {"name": "Mine"}),
    ("archives the workspace", "POST", "/v1/workspaces/{vworkspace}/archive", None),
    ("deletes the workspace", "DELETE", "/v1/workspaces/{vworkspace}", None),
    ("stops everything of the owner's", "PUT", "/v1/halt", None),
)
READS = tuple(
    (f"reads {path}", "GET", path, None)
    for path in (
        TASK,
        f"{TASK}/credentials",
        f"{TASK}/tools",
        f"{TASK}/executions",
        EXECUTION,
        *(f"{EXECUTION}/{part}" for part in ("calls", "events", "record", "receipts")),
        "/v1/workspaces/{vworkspace}",
        "/v1/members/{admin_person}",
    )
)
Attack = tuple[str, str, str, Any]


def _attack(who: Member, attack: Attack, status: int | None, *also: Member, headers: dict[str, str] | None = None) -> Scenario:
    what, method, path, body = attack
    forged = " with a forged header" if headers else ""
    act = Act(to="api", method=method, path=path, body=body, bearer=who.name, status=status, headers=headers or {})
    return Scenario(name=f"person: {who.name} {what}{forged}", victim=True, members=(who, *also), acts=(act,))


def _raise(who: Member, what: str, method: str, path: str, body: Any, status: int, *also: Member) -> Scenario:
    return _attack(who, (what, method, path, body), status, *also)


ROLES = (
    *(_attack(VIEWER, attack, FORBIDDEN) for attack in STARTS),
    *(_attack(who, attack, FORBIDDEN) for who in (VIEWER, OPERATOR) for attack in CHANGES),
    _raise(VIEWER, "revokes the admin's key", "DELETE", "/v1/keys/{admin_key}", None, NOT_FOUND, ADMIN),
    _raise(OPERATOR, "revokes the admin's key", "DELETE", "/v1/keys/{admin_key}", None, NOT_FOUND, ADMIN),
    *(_attack(ADMIN, attack, FORBIDDEN) for attack in OWNERS),
    _raise(VIEWER, "becomes an admin", "PATCH", "/v1/members/{viewer_person}", {"role": "admin"}, FORBIDDEN),
    _raise(OPERATOR, "becomes an admin", "PATCH", "/v1/members/{operator_person}", {"role": "admin"}, FORBIDDEN),
    _raise(OPERATOR, "removes the admin", "DELETE", "/v1/members/{admin_person}", None, FORBIDDEN, ADMIN),
    _raise(OPERATOR, "lists the keys of all", "GET", "/v1/keys?everybody=true", None, FORBIDDEN),
    _raise(ADMIN, "may approve by itself", "PATCH", "/v1/members/{admin_person}", {"approves": True}, FORBIDDEN),
    _raise(
        ADMIN, "invites who approves", "POST", "/v1/invitations", {"name": "x", "role": "viewer", "approves": True}, FORBIDDEN
    ),
    _raise(ADMIN, "leaves as the last admin", "DELETE", "/v1/members/{admin_person}", None, CONFLICT),
    _raise(ADMIN, "steps down as the last admin", "PATCH", "/v1/members/{admin_person}", {"role": "viewer"}, CONFLICT),
)

WIDE = ["read", "run", "manage", "approve"]
SCOPES = (
    *(_attack(READER, attack, FORBIDDEN) for attack in STARTS),
    *(_attack(READER, attack, FORBIDDEN) for attack in CHANGES),
    _raise(READER, "revokes the admin's key", "DELETE", "/v1/keys/{admin_key}", None, FORBIDDEN, ADMIN),
    *(
        _raise(who, f"makes a key that may {right}", "POST", "/v1/keys", {"name": "wide", "scopes": [right]}, FORBIDDEN)
        for who, rights in ((READER, WIDE[1:]), (VIEWER, WIDE[1:]), (OPERATOR, WIDE[2:]), (ADMIN, WIDE[3:]))
        for right in rights
    ),
    _raise(READER, "leaves, and ends what runs", "DELETE", "/v1/members/{reader_person}", None, FORBIDDEN, ADMIN),
    _raise(READER, "revokes its other key", "DELETE", "/v1/keys/{reader_key}", None, FORBIDDEN),
)

ENDED = tuple(
    _attack(who, attack, UNAUTHORIZED, ADMIN) for who in (REVOKED, REMOVED, EXPIRED) for attack in (*READS, *STARTS, CHANGES[0])
)

ELSEWHERE = (
    *(
        _attack(STRANGER, attack, NOT_FOUND, ADMIN)
        for attack in (*READS, *STARTS, *(item for item in CHANGES if "{v" in item[2]))
    ),
    *(
        _attack(STRANGER, attack, NOT_FOUND, ADMIN, headers={HEADER: "{vworkspace}"})
        for attack in (
            *READS,
            *STARTS,
            ("lists the tasks", "GET", "/v1/tasks", None),
            ("lists it all", "GET", "/v1/executions", None),
        )
    ),
    _raise(STRANGER, "removes a member", "DELETE", "/v1/members/{admin_person}", None, NOT_FOUND, ADMIN),
    _raise(STRANGER, "revokes a key", "DELETE", "/v1/keys/{admin_key}", None, NOT_FOUND, ADMIN),
    _attack(STRANGER, ("gives a task of its own the agent", "POST", "/v1/tasks", {**OWN_TASK, "agent": "{vagent}"}), INVALID),
)


def _forge(what: str, method: str, path: str, body: Any = None) -> Scenario:
    """Return an attack of another owner, who names the victim's workspace."""
    act = Act(to="api", method=method, path=path, body=body, status=NOT_FOUND, headers={HEADER: "{vworkspace}"})
    return Scenario(name=f"person: another owner {what}", victim=True, acts=(act,))


FORGED = (
    *(_forge(f"{what} with a forged header", method, path, body) for what, method, path, body in (*READS[:-1], *STARTS)),
    *(
        _forge(f"reads {path} with a forged header", "GET", path)
        for path in ("/v1/tasks", "/v1/executions", "/v1/me", "/v1/ledger", "/v1/budget", "/v1/members", "/v1/keys", "/v1/jobs")
    ),
)


def _join(what: str, *acts: Act, who: Member = VIEWER) -> Scenario:
    return Scenario(name=f"person: {what}", victim=True, members=(who,), acts=acts)


TAKE = {"to": "api", "path": "/v1/join", "bearer": "none"}
INVITATIONS = (
    _join("an invitation is taken again", Act(**TAKE, body={"token": "{viewer_token}"}, status=NOT_FOUND)),
    _join("an invitation is taken again, at once", Act(**TAKE, body={"token": "{viewer_token}"}, times=8, at_once=8, most=0)),
    _join("an invitation is guessed", Act(**TAKE, body={"token": "inv_" + "A" * 43}, status=NOT_FOUND)),
    _join(
        "the invitation of somebody who left is taken",
        Act(**TAKE, body={"token": "{removed_token}"}, status=NOT_FOUND),
        who=REMOVED,
    ),
    _join(
        "a key that is revoked takes an invitation",
        Act(to="api", path="/v1/join", bearer="revoked", body={"token": "{revoked_token}"}, status=UNAUTHORIZED),
        who=REVOKED,
    ),
)


PLACE = {"workspace": "{vworkspace}", "workspace_id": "{vworkspace}", "agent_id": "{vagent}", "execution_id": "{vexec}"}
MODEL = Scenario(
    name="person: a model keeps something for another workspace",
    turns=(call_tools(call("save_preference", kind="taste", preference="tea", **PLACE)), finish()),
    victim=True,
    tools=("save_preference",),
    services=(),
    keys=(),
    requests=0,
)
"""Every tool is asked so by the campaign of isolation, for the same arguments."""

SCENARIOS = (*ROLES, *SCOPES, *ENDED, *ELSEWHERE, *FORGED, *INVITATIONS, MODEL)
