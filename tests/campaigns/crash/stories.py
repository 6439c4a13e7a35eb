"""Stories of people: what is asked for while instances of the API die, and what must be so whatever died."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from ferryman.domain.executions.execution import Execution
from ferryman.domain.jobs.job import JobStatus
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace
from ferryman.serving import keys
from tests.contracts.conftest import Stores
from tests.contracts.values import NOW

HERE = derive_default_workspace("ann")
SECRET, ANOTHER = "s" * 43, "o" * 43
EXECUTIONS = ("queued", "running")
"""What eve has under way."""


class Run(Protocol):
    """What a story needs of its run: `ask` asks until there is an answer, `ask_once` an instance that nothing happens to."""

    stores: Stores
    story: str
    tokens: dict[str, str]
    answers: list[httpx.Response]

    async def ask(self, method: str, path: str, *, who: str = "boss", **options: Any) -> httpx.Response: ...
    async def ask_once(self, method: str, path: str, *, who: str = "boss", **options: Any) -> httpx.Response: ...


@dataclass(frozen=True, slots=True)
class Story:
    """What is asked for, what finds out what is not as it has to be afterwards, and what has to be stored `before`."""

    tell: Callable[[Run], Awaitable[None]]
    find: Callable[[Run], Awaitable[list[str]]]
    before: Callable[[Run], Awaitable[None]] | None = None


async def find_half(run: Run) -> list[str]:
    """Return what is wrong of what holds after every story: no half membership, no key of who left, no job that is not done."""
    stores = run.stores
    findings = [f"answered: {answer.status_code} {answer.text[:100]}" for answer in run.answers if answer.status_code >= 500]
    members = await stores.members.list("ann", HERE)
    findings += [f"half: {membership.person} is a member, and no person" for membership, person in members if person is None]
    present = {membership.person for membership, _ in members}
    stored = await stores.keys.list("ann", HERE)
    findings += [f"left: the key {key.id} of somebody who is no member" for key in stored if key.person not in present]
    if not [*await stores.audit.list("ann", HERE, most=100)]:
        findings.append("audit: nothing says who asked for it")
    jobs = [*await stores.jobs.list("ann")]
    findings += [f"lost: the job {job.id} is {job.status}" for job in jobs if job.status is not JobStatus.DONE]
    if len(jobs) != run.story.startswith(("leave", "delete")):
        findings.append(f"doubled: {len(jobs)} jobs")
    answered = {answer.json()["job_id"] for answer in run.answers if answer.status_code == 202}
    if answered != {job.id for job in jobs}:
        findings.append(f"lost: {sorted(answered)} is answered, and the jobs are {[job.id for job in jobs]}")
    return findings


async def _is_let_in(run: Run, who: str) -> bool:
    return bool(run.tokens.get(who)) and (await run.ask_once("GET", "/v1/me", who=who)).status_code == 200


async def _invite(run: Run) -> None:
    body, once = {"name": "Cleo", "role": "viewer"}, {"Idempotency-Key": '"cleo"'}
    invited = (await run.ask("POST", "/v1/invitations", json=body, headers=once)).json()
    if invited["token"] is None:  # the first answer was lost: it is withdrawn, and another one made
        await run.ask("DELETE", f"/v1/invitations/{invited['invitation_id']}")
        invited = (await run.ask("POST", "/v1/invitations", json=body)).json()
    run.tokens["made"] = invited["token"]


async def _find_invited(run: Run) -> list[str]:
    body = {"token": run.tokens["made"]}
    joined = (await run.ask_once("POST", "/v1/join", who="", json=body)).status_code
    findings = [] if joined == 201 else [f"lost: the token is answered with {joined}"]
    names = [known["name"] for known in (await run.ask_once("GET", "/v1/invitations")).json()["invitations"]]
    return findings + ([] if names == ["dora"] else [f"doubled: beside it there are invitations of {names}"])


async def _join(run: Run) -> None:
    body = {"token": run.tokens["invited"], "secret": SECRET}
    run.tokens["dora"] = (await run.ask("POST", "/v1/join", who="", json=body)).json().get("key", "")


async def _find_joined(run: Run) -> list[str]:
    findings = [] if await _is_let_in(run, "dora") else ["lost: who joined is not let in"]
    body = {"token": run.tokens["invited"], "secret": ANOTHER}
    another = (await run.ask_once("POST", "/v1/join", who="", json=body)).status_code
    findings += [] if another == 404 else [f"doubled: somebody else with the token is answered with {another}"]
    names = sorted(person.name for _, person in await run.stores.members.list("ann", HERE) if person is not None)
    findings += [] if names == ["boss", "dora", "eve"] else [f"doubled: the members are {names}"]
    stored = sorted(key.person for key in await run.stores.keys.list("ann", HERE))
    return findings + ([] if len(stored) == 3 else [f"doubled: there are keys of {stored}"])


async def _change(run: Run) -> None:
    await run.ask("PATCH", "/v1/members/eve", json={"role": "viewer", "max_credits_month": "9"})


async def _find_changed(run: Run) -> list[str]:
    eve = (await run.ask_once("GET", "/v1/members/eve")).json()
    stored = [eve["role"], eve["max_credits_month"], eve["approves"]]
    mine = (await run.ask_once("GET", "/v1/me", who="eve")).json()["rights"]
    return [] if (stored, mine) == (["viewer", "9", False], ["read"]) else [f"lost: eve is {stored}, and may {mine}"]


async def _find_sessions(run: Run, present: list[str]) -> list[str]:
    """Return what is wrong of the sessions of the console where they are not those that have to be `present`."""
    stored = [session.id for session in await run.stores.console_sessions.list("ann", HERE, now=NOW)]
    return [] if stored == present else [f"left or lost: the sessions are {stored}"]


async def _make_link(run: Run) -> None:
    once = {"Idempotency-Key": '"link"'}
    link = (await run.ask("POST", "/v1/sign-in-links", headers=once)).json()
    if link["url"] is None:  # the first answer was lost: another one is made
        link = (await run.ask("POST", "/v1/sign-in-links")).json()
    run.tokens["code"] = link["url"].partition("code=")[2]


async def _find_link(run: Run) -> list[str]:
    digest = keys.digest_key(run.tokens["code"])
    came = [await run.stores.console_sessions.take_link(digest, now=NOW) for _ in range(2)]
    is_right = came[0] is not None and came[0].person == "boss"
    findings = [] if is_right else ["lost: the link signs nobody in"]
    return findings + ([] if came[1] is None else ["doubled: the link signs in twice"])


async def _end_session(run: Run) -> None:
    await run.ask("DELETE", "/v1/sessions/session_eve")


async def _find_session_ended(run: Run) -> list[str]:
    return await _find_sessions(run, ["session_boss"])


async def _revoke(run: Run) -> None:
    await run.ask("DELETE", "/v1/keys/key_eve")


async def _find_revoked(run: Run) -> list[str]:
    findings = ["left: the revoked key lets eve in"] if await _is_let_in(run, "eve") else []
    findings += await _find_sessions(run, ["session_boss"])
    is_there = await run.stores.members.get("eve", owner="ann", workspace=HERE) is not None
    return findings + ([] if is_there and await _is_let_in(run, "boss") else ["lost: more than the key is gone"])


async def _end(run: Run) -> None:
    await run.ask("DELETE", "/v1/members/eve?executions=end")


async def _take_over(run: Run) -> None:
    await run.ask("DELETE", "/v1/members/eve?executions=take_over")


async def _find_left(run: Run, is_right: Callable[[Execution], bool]) -> list[str]:
    """Return what is left of eve, and which of her executions are not as they have to be."""
    stores = run.stores
    findings = ["left: eve is let in"] if await _is_let_in(run, "eve") else []
    findings += await _find_sessions(run, ["session_boss"])
    if await stores.members.find_person("eve", owner="ann") or await stores.members.get("eve", owner="ann", workspace=HERE):
        findings.append("half: something of eve is left")
    for name in EXECUTIONS:
        execution = await stores.executions.get(name)
        if execution is None or not is_right(execution):
            findings.append(f"lost: {name} is {execution and (execution.status, execution.taken_over_by)}")
    return findings


async def _find_ended(run: Run) -> list[str]:
    return await _find_left(
        run, lambda known: known.status.terminal and known.cancelled_by == "boss" and not known.taken_over_by
    )


async def _find_handed_over(run: Run) -> list[str]:
    return await _find_left(run, lambda known: not known.status.terminal and known.taken_over_by == "boss")


async def _store_agent(run: Run) -> None:
    await run.stores.agents.create(
        Agent(id="agent_gone", owner="ann", workspace=HERE, name="g", created_at=NOW, updated_at=NOW)
    )


async def _delete_agent(run: Run) -> None:
    await run.ask("DELETE", "/v1/agents/agent_gone")


async def _find_agent_deleted(run: Run) -> list[str]:
    known = [agent.id for agent in await run.stores.agents.list("ann", HERE)]
    return ["left: the agent is there"] if "agent_gone" in known else []


async def _store_workspace(run: Run) -> None:
    await run.stores.workspaces.create(Workspace(id="ws_gone", owner="ann", name="g", created_at=NOW, updated_at=NOW))


async def _delete_workspace(run: Run) -> None:
    await run.ask("DELETE", "/v1/workspaces/ws_gone", who="owner")


async def _find_workspace_deleted(run: Run) -> list[str]:
    return ["left: the workspace is there"] if await run.stores.workspaces.get("ws_gone", owner="ann") else []


STORIES = {
    "invite": Story(_invite, _find_invited),
    "join": Story(_join, _find_joined),
    "make a sign-in link": Story(_make_link, _find_link),
    "end a session": Story(_end_session, _find_session_ended),
    "change a role": Story(_change, _find_changed),
    "revoke a key": Story(_revoke, _find_revoked),
    "leave, and executions end": Story(_end, _find_ended),
    "leave, and executions go on": Story(_take_over, _find_handed_over),
    "delete an agent": Story(_delete_agent, _find_agent_deleted, before=_store_agent),
    "delete a workspace": Story(_delete_workspace, _find_workspace_deleted, before=_store_workspace),
}
