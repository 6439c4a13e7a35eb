"""Direct links: asked for by who may not, for files of others, and changed; and what the bucket sends by them."""

from __future__ import annotations

from dataclasses import replace

from tests.campaigns.hostile.direct import BUCKET, CHANGES
from tests.campaigns.hostile.filed import FILES, LINKS
from tests.campaigns.hostile.member import EXPIRED, READER, REMOVED, REVOKED, STRANGER, VIEWER, Member
from tests.campaigns.hostile.scenario import Act, Scenario
from tests.campaigns.hostile.scenarios.downloads import BOARD, NAMES, OUTSIDE, PLACE, SVG

ASK = Act(to="api", path=f"{LINKS}/a.md", status=200)
OF_THE_VICTIM = replace(ASK, path=f"{LINKS}/board.md")
STORE = Act(to="api", method="PUT", path=f"{FILES}a.md", body="x", status=200)
FOLLOW = Act(to=BUCKET, method="GET", path="{direct}", bearer="none", status=200)
SEEN = {"elsewhere": None, "outside": None, "headers": None, "hmac": None, "bare": None, "later": None}
"""Changes that are answered 400, 401, 403 or 404: what is asked for is no signature, or is nothing."""


def _attack(what: str, *acts: Act, members: tuple[Member, ...] = ()) -> Scenario:
    """Return a scenario whose attacker asks beside a victim who keeps a file; nothing of it is in the answers."""
    return Scenario(
        name=f"direct: {what}",
        victim=True,
        victim_s=1.0,
        acts_alone=True,
        keys=(),
        victim_before=(BOARD,),
        acts=acts,
        members=members,
    )


SCENARIOS = (
    _attack("out of the workspace", *(replace(ASK, path=f"{LINKS}/{key}", status=404) for key in OUTSIDE.values())),
    _attack(
        "to a file of another owner's",
        replace(OF_THE_VICTIM, status=404, headers=PLACE),
        replace(OF_THE_VICTIM, status=404),
        replace(OF_THE_VICTIM, status=401, bearer="none"),
    ),
    *(
        _attack(f"asked for by {member.name}", replace(OF_THE_VICTIM, status=status, bearer=member.name), members=(member,))
        for member, status in ((VIEWER, 403), (READER, 403), (STRANGER, 404), (REVOKED, 401), (REMOVED, 401), (EXPIRED, 401))
    ),
    _attack(
        "of a day",
        STORE,
        *(replace(ASK, status=422, body={"expires_in_s": life}) for life in (86_400, 901, 0, -1, "60", 1e9, None, True)),
    ),
    _attack(
        "changed",
        STORE,
        ASK,
        FOLLOW,
        *(replace(FOLLOW, path=f"{{direct_{change}}}", status=SEEN.get(change, 403)) for change in CHANGES),
        *(
            replace(FOLLOW, path=f"{{direct}}&{more}", status=status)
            for more, status in {
                "generation=1": 403,
                "response-content-disposition=inline": 403,
                "response-content-type=text/html": 403,
                "response-cache-control=public": 403,
                "uploads=": 403,
                "X-Goog-Signature=00": 403,
                "X-Amz-Algorithm=AWS4-HMAC-SHA256": None,
            }.items()
        ),
        replace(FOLLOW, headers={"x-goog-meta-a": "b"}, status=400),
        replace(FOLLOW, headers={"host": "storage.googleapis.com"}, status=421),
        FOLLOW,
    ),
    _attack(
        "used to write",
        STORE,
        ASK,
        *(replace(FOLLOW, method=method, body=None if method == "DELETE" else "y", status=403) for method in ("PUT", "DELETE")),
        replace(FOLLOW, method="POST", path="{direct}&uploads=", status=403),
        replace(FOLLOW, method="PUT", headers={"x-http-method-override": "GET"}, status=403),
        FOLLOW,
    ),
    _attack("to a version that was replaced", STORE, ASK, FOLLOW, replace(STORE, body="y"), replace(FOLLOW, status=404)),
    _attack(
        "to what was deleted",
        STORE,
        ASK,
        Act(to="api", method="DELETE", path=f"{FILES}a.md", status=204),
        replace(FOLLOW, status=404),
        replace(STORE, body="y"),
        replace(FOLLOW, status=404),
    ),
    _attack(
        "under names that would be headers",
        *(
            act
            for name in NAMES[:12]
            for act in (
                Act(to="api", method="PUT", path=f"{FILES}{name}", body=SVG, headers={"content-type": "text/html"}),
                replace(ASK, path=f"{LINKS}/{name}", status=None),
                replace(FOLLOW, status=None),
            )
        ),
    ),
)
