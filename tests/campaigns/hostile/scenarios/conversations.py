"""Conversations: executions in one with the id of a victim's, to read, charge or exhaust it, and ids that imitate its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.campaigns.hostile.member import ADMIN, OPERATOR, READER, STRANGER, VIEWER, Member
from tests.campaigns.hostile.scenario import PUBLIC, Act, Scenario, call, call_tools, finish
from tests.campaigns.hostile.scenarios.budget import DEAR

DONE, CREATED, ACCEPTED, FORBIDDEN, NOT_FOUND, INVALID = 200, 201, 202, 403, 404, 422
TALK = {"conversation": "{vtalk}"}
TASK = {"name": "mine", "task_prompt": "Obey.", "model": "scripted/{token}"}
SPENDS = ({**finish(), "usage": DEAR},)
"""What the model answers in the attacker's executions: dear enough that the victim's limit would not hold another one."""

THEIR_PLACES = ("/v1/workspaces/{vworkspace}", "/v1/agents/{vagent}")


def _make_task(bearer: str, **fields: Any) -> Act:
    return Act(to="api", path="/v1/tasks", body={**TASK, **fields}, bearer=bearer, status=CREATED)


def _start(bearer: str, task: str = "{mtask}", status: int = ACCEPTED, **more: Any) -> Act:
    return Act(to="api", path=f"/v1/tasks/{task}/executions", body=TALK, bearer=bearer, status=status, **more)


def _limit(bearer: str, path: str, limit: str | None, status: int) -> Act:
    return Act(to="api", method="PATCH", path=path, body={"conversation_credits_max": limit}, bearer=bearer, status=status)


def _talk(what: str, *acts: Act, members: tuple[Member, ...] = (), **more: Any) -> Scenario:
    """Return a scenario whose model is that of the attacker's task, which the acts start."""
    usual: dict[str, Any] = {"turns": SPENDS, "tools": (), "services": (), "keys": (), "victim": True, "acts_alone": True}
    return Scenario(**{**usual, "name": f"conversation: {what}", "acts": acts, "members": members, **more})


USED_UP = (
    _talk("of the same id is used up by another owner", resumes=True, acts_alone=False, conversation="{vtalk}"),
    _talk(
        "of the same id is used up by another owner, five times at once",
        _start("mine", "{task}", times=5, at_once=5, status=ACCEPTED),
        resumes=True,
    ),
    _talk(
        "of the same id is used up in another workspace",
        _make_task("stranger"),
        _start("stranger"),
        members=(STRANGER,),
        resumes=True,
    ),
    _talk(
        "of the same id is used up by another agent",
        Act(to="api", path="/v1/agents", body={"name": "Mine"}, bearer="admin", status=CREATED),
        _make_task("admin", agent_id="{magent}"),
        _start("admin"),
        members=(ADMIN,),
        resumes=True,
    ),
    _talk(
        "of the same id has no credits with another owner",
        _limit("mine", "/v1/workspaces/{workspace}", "0.5", DONE),
        _start("mine", "{task}"),
        resumes=True,
    ),
    _talk(
        "of the same id has no credits with another agent",
        Act(
            to="api",
            path="/v1/agents",
            body={"name": "Mine", "conversation_credits_max": "0.5"},
            bearer="admin",
            status=CREATED,
        ),
        _make_task("admin", agent_id="{magent}"),
        _start("admin"),
        members=(ADMIN,),
        resumes=True,
    ),
)

IMITATED: Mapping[str, Any] = {
    "with its agent": "{vagent}/{vtalk}",
    "with its agent and a full stop": "{vagent}.{vtalk}",
    "with its agent and a step up": "../{vagent}.{vtalk}",
    "with a kind": "conversation:{vagent}/{vtalk}",
    "with a null": "{vtalk}\0",
    "with a space": "{vtalk} ",
    "with a line break": "{vtalk}\n",
    "with a slash": "{vtalk}/",
    "after a full stop": ".{vtalk}",
    "with a mark that nobody sees": "{vtalk}\u200b",
    "with a wide letter": "ｔ{vtalk}",
    "percent-encoded": "{vtalk}%00",
    "as a list": ["{vtalk}"],
    "as an object": {"id": "{vtalk}"},
    "longer than an id": "{vtalk}" + "x" * 64,
}
IDS = tuple(
    _talk(
        f"id, imitated {how}",
        Act(to="api", path="/v1/tasks/{task}/executions", body={"conversation": name}, status=INVALID),
    )
    for how, name in IMITATED.items()
)

THEIRS = (
    _talk("of a victim's task goes on with another owner", _start("mine", "{vtask}", NOT_FOUND)),
    _talk(
        "of a victim's task goes on with a forged header",
        _start("mine", "{vtask}", NOT_FOUND, headers={"Ferryman-Workspace": "{vworkspace}"}),
    ),
    _talk(
        "of a victim's task goes on with a person of another workspace",
        _start("stranger", "{vtask}", NOT_FOUND),
        members=(STRANGER,),
    ),
    *(
        _talk(f"of a victim's task goes on with {who.name}", _start(who.name, "{vtask}", FORBIDDEN), members=(who,))
        for who in (VIEWER, READER)
    ),
    _talk(
        "of the agent of another owner, named at the start",
        Act(to="api", path="/v1/tasks/{task}/executions", body={**TALK, "agent_id": "{vagent}"}, status=INVALID),
    ),
)

LIMITS = tuple(
    _talk(f"limit of {kind} set to {limit} by {who}", _limit(who, path, limit, status), members=members)
    for kind, path in zip(("the workspace", "the agent"), THEIR_PLACES, strict=True)
    for limit in ("0.5", None)
    for who, status, members in (
        ("mine", NOT_FOUND, ()),
        ("stranger", NOT_FOUND, (STRANGER,)),
        *((member.name, FORBIDDEN, (member,)) for member in (VIEWER, OPERATOR, READER)),
    )
)

LISTS = ("/v1/budget", "/v1/executions", "/v1/ledger", "/v1/ledger?by=agent", "/v1/alerts", "/v1/audit-entries", "/v1/jobs")
READS = tuple(
    _talk(
        f"looked for by {who} in {path}",
        Act(to="api", method="GET", path=path, bearer=who, status=DONE),
        members=members,
    )
    for who, members in (("mine", ()), ("stranger", (STRANGER,)))
    for path in LISTS
)

NAMES = {"conversation": "{vtalk}", "conversation_id": "{vtalk}", "agent_id": "{vagent}", "workspace_id": "{vworkspace}"}
MODEL = _talk(
    "named in the arguments of a model's calls",
    turns=(
        call_tools(call("save_preference", kind="taste", preference="tea", **NAMES)),
        call_tools(
            call("find_tools", query="conversation", **NAMES), call("http_get", url=f"https://{PUBLIC}/{{token}}", **NAMES)
        ),
        finish(),
    ),
    tools=("save_preference", "http_get"),
    services=("coingecko",),
    acts_alone=False,
    conversation="{vtalk}",
    resumes=True,
    requests=1,
)

SCENARIOS = (*USED_UP, *IDS, *THEIRS, *LIMITS, *READS, MODEL)
