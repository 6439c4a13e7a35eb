"""Joining and membership: invitations that are not one's own, members who change their own place, and what lists tell them."""

from __future__ import annotations

from typing import Any

from tests.campaigns.hostile.member import ADMIN, EXPIRED, OPERATOR, READER, STRANGER, VIEWER, Member
from tests.campaigns.hostile.scenario import Act, Scenario

HEADER = "Ferryman-Workspace"
DONE, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT, INVALID = 200, 401, 403, 404, 409, 422
SECOND = Member(name="second", role="admin")
SECRET = "S" * 43


def _say(what: str, *acts: Act, members: tuple[Member, ...] = (VIEWER,)) -> Scenario:
    return Scenario(name=f"person: {what}", victim=True, members=members, acts=acts)


def _join(body: dict[str, Any], status: int | None = NOT_FOUND, **fields: Any) -> Act:
    return Act(to="api", path="/v1/join", body=body, status=status, **{"bearer": "none", **fields})


def _change(who: Member, whom: Member, change: dict[str, Any], status: int) -> Act:
    path = f"/v1/members/{{{whom.name}_person}}"
    return Act(to="api", method="PATCH", path=path, body=change, bearer=who.name, status=status)


USED = {"token": "{viewer_token}"}
INVITATIONS = (
    _say("an invitation is guessed in its form", _join({"token": "fi_" + "A" * 43})),
    _say("an invitation is taken again with a secret", _join({**USED, "secret": SECRET})),
    _say("an invitation is taken again with many secrets", *(_join({**USED, "secret": sign * 43}) for sign in "AZaz09-_")),
    _say("an invitation is taken again with a secret that may be guessed", _join({**USED, "secret": "monday"}, INVALID)),
    _say("an invitation is taken again by another owner", _join(USED, bearer="mine")),
    _say(
        "an invitation is taken again by a member of another workspace",
        _join(USED, bearer="stranger"),
        members=(VIEWER, STRANGER),
    ),
    _say("a member takes their own invitation again", _join(USED, bearer="viewer")),
    _say("an invitation that has expired is taken", _join({"token": "{expired_late}"}), members=(EXPIRED,)),
    _say(
        "an invitation that has expired is taken with a secret",
        _join({"token": "{expired_late}", "secret": SECRET}),
        members=(EXPIRED,),
    ),
    _say("a key that has expired takes an invitation", _join(USED, UNAUTHORIZED, bearer="expired"), members=(VIEWER, EXPIRED)),
    _say("the id of a key is taken for an invitation", _join({"token": "{viewer_key}"})),
)

OWN_PLACE = (
    *(
        _say(f"{who.name} changes its own {name}", _change(who, who, {name: value}, FORBIDDEN), members=(who,))
        for who in (VIEWER, OPERATOR, READER)
        for name, value in (("approves", True), ("max_credits_month", "1000000"))
    ),
    _say("reader becomes what its person is", _change(READER, READER, {"role": "admin"}, FORBIDDEN), members=(READER, ADMIN)),
    _say(
        "of two admins who demote each other the one who is left stays",
        _change(ADMIN, SECOND, {"role": "viewer"}, DONE),
        _change(SECOND, ADMIN, {"role": "viewer"}, FORBIDDEN),
        _change(ADMIN, ADMIN, {"role": "operator"}, CONFLICT),
        Act(to="api", method="DELETE", path="/v1/members/{admin_person}", bearer="admin", status=CONFLICT),
        members=(ADMIN, SECOND),
    ),
    _say(
        "an admin demotes itself as often as it can at once",
        Act(
            to="api",
            method="PATCH",
            path="/v1/members/{admin_person}",
            body={"role": "viewer"},
            bearer="admin",
            times=8,
            at_once=8,
            most=0,
        ),
        members=(ADMIN,),
    ),
)

LISTS = tuple(
    _say(
        f"{who.name} looks for values in {path}",
        Act(to="api", method="GET", path=path, bearer=who.name, status=DONE),
        members=(who,),
    )
    for who in (VIEWER, ADMIN)
    for path in ("/v1/audit-entries", "/v1/members", "/v1/keys", "/v1/invitations", "/v1/jobs", "/v1/agents", "/v1/me")
)
"""The owner has stored a credential, whose change is entered: nothing of it is told."""

FORGED = tuple(
    _say(
        f"a header names {about}",
        Act(to="api", method="GET", path="/v1/members", bearer=bearer, status=NOT_FOUND, headers={HEADER: text}),
        members=(VIEWER, STRANGER),
    )
    for bearer in ("mine", "stranger")
    for about, text in (
        (f"two workspaces, asked by {bearer}", "{vworkspace},{vworkspace}"),
        (f"a step up, asked by {bearer}", "../{vworkspace}"),
        (f"a wild card, asked by {bearer}", "*"),
        (f"a person, asked by {bearer}", "{viewer_person}"),
    )
)

SCENARIOS = (*INVITATIONS, *OWN_PLACE, *LISTS, *FORGED)
