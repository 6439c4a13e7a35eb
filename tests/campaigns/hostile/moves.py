"""Moves: attempts to have a call sent that waits for a person. None of them is a decision of the owner about what leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict, SignedDecision
from ferryman.domain.approvals.form import digest_form
from ferryman.domain.approvals.standing import StandingApproval, encode_standing
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.copies import replace as copy
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.owner import Owner
from ferryman.gcp import documents
from ferryman.gcp.owners import FirestoreOwners
from ferryman.serving import keys
from tests.campaigns.hostile.forge import genuine
from tests.campaigns.hostile.waiting import STRANGER, Move, Waiting, approve, forge

Sign = Callable[[Approval], SignedDecision | None]
ELSEWHERE = {"arguments": {"url": "https://api.coingecko.com/elsewhere", "body": {"amount": 1}}}


async def wait_on(waiting: Waiting, approval: Approval) -> None:
    """Decide nothing."""


async def accept(waiting: Waiting, approval: Approval) -> None:
    """Have the owner approve it, and keep it as it is then."""
    await waiting.decide(approval)
    waiting.earlier = await waiting.approvals.get(approval.id)


async def accept_more(waiting: Waiting, approval: Approval) -> None:
    await waiting.decide(approval, sends=5)
    waiting.earlier = await waiting.approvals.get(approval.id)


def accept_and_declassify(place: str) -> Move:
    """Return the move of approving, and declassifying a value of it, which may have the `{token}` of the scenario."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        await waiting.decide(approval, declassify=place.format_map(waiting.words))

    return move


def accept_then_write_declassified(place: str) -> Move:
    """Return the move of having the owner approve two sends, and writing a value into the stored decision as one that they
    declassified. The first of them may have left before that."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        await waiting.decide(approval, sends=2)
        decided = await waiting.approvals.get(approval.id)
        assert decided is not None, "it is kept"
        assert decided.decided is not None, "it was decided about"
        written = alter(decided.decided, declassified=place.format_map(waiting.words))
        await waiting.put(copy(decided, decided=written))

    return move


async def deny(waiting: Waiting, approval: Approval) -> None:
    await waiting.decide(approval, verdict="deny", reason="No.")
    waiting.earlier = await waiting.approvals.get(approval.id)


async def edit(waiting: Waiting, approval: Approval) -> None:
    """Have the owner write other arguments: they are asked about themselves."""
    arguments = {"url": f"https://api.coingecko.com/{waiting.words['token']}/y", "body": {"amount": 1}}
    await waiting.decide(approval, verdict="edit", arguments=arguments)


def store(sign: Sign, **fields: Any) -> Move:
    """Return the move of writing the approval into the store as approved, with what `sign` makes of it."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        await waiting.put(copy(approve(approval, sign(approval)), **fields))

    return move


def alter(signed: SignedDecision, **fields: Any) -> SignedDecision:
    """Return a signed decision with fields that were edited afterwards."""
    return replace(signed, decision=replace(signed.decision, **fields))


async def store_edit(waiting: Waiting, approval: Approval) -> None:
    """Write an edit into the store that nobody has decided."""
    edited = f'{{"url":"https://api.coingecko.com/{waiting.words["token"]}/z","body":{{}}}}'
    signed = forge(approval, verdict=DecisionVerdict.EDIT, sends_max=0, edited=edited)
    await waiting.put(copy(approval, state=ApprovalState.EDITED, decided=signed))


async def store_ticket(waiting: Waiting, approval: Approval) -> None:
    """Write the call itself as one that was approved."""
    sent = ApprovedSend(approval=approval.id, digest=approval.digest, by="owner", at=approval.created_at)
    await waiting.change_ticket(approval.seq, approved=documents.write(sent))
    await waiting.put(copy(approval, state=ApprovalState.APPROVED, sent=(approval.seq,)))


async def replay(waiting: Waiting, approval: Approval) -> None:
    """Store the decision that was made about the call before."""
    assert waiting.earlier is not None, "one was decided about"
    await waiting.put(approve(approval, waiting.earlier.decided))


async def replay_renamed(waiting: Waiting, approval: Approval) -> None:
    """Replay the same, with the names of this call."""
    assert waiting.earlier is not None, "one was decided about"
    assert waiting.earlier.decided is not None, "it was decided about"
    names = {"approval": approval.id, "digest": approval.digest, "seq": approval.seq}
    verdict = {"verdict": DecisionVerdict.APPROVE, "sends_max": 1}
    await waiting.put(approve(approval, alter(waiting.earlier.decided, **names, **verdict)))


async def replay_whole(waiting: Waiting, approval: Approval) -> None:
    """Store the approval of the call before in the place of this one's, with its form."""
    assert waiting.earlier is not None, "one was decided about"
    await waiting.put(copy(waiting.earlier, id=approval.id, sent=()))


async def point_back(waiting: Waiting, approval: Approval) -> None:
    """Have the call name the approval of the one before, with its sends forgotten."""
    assert waiting.earlier is not None, "one was decided about"
    await waiting.put(copy(waiting.earlier, sent=()))
    await waiting.change_ticket(approval.seq, approval=waiting.earlier.id)


async def approve_as_other_owner(waiting: Waiting, approval: Approval) -> None:
    """Have the api sign the digest for an owner of the attacker's, and store that decision for the call."""
    api_key, owner, now = keys.generate_key(), f"thief-{waiting.words['token']}", datetime.now(UTC)
    owners = FirestoreOwners(waiting.harness.clients)
    await owners.put(Owner(id=owner, plan="pro", created_at=now))
    await owners.add_key(keys.digest_key(api_key), owner, now)
    headers = {"Authorization": f"Bearer {api_key}"}
    workspace = (await waiting.ask("GET", "/v1/workspaces", headers=headers)).json()["workspaces"][0]["workspace_id"]
    stolen = copy(approval, id=f"{approval.id}t", owner=owner, workspace=workspace)
    await waiting.put(stolen)
    path = f"/v1/approvals/{stolen.id}/decision"
    answer = await waiting.ask("POST", path, {"verdict": "approve", "digest": stolen.digest}, headers=headers)
    assert answer.is_success, f"the thief's own approval was answered {answer.status_code}: {answer.text[:200]}"
    decided = await waiting.approvals.get(stolen.id)
    assert decided is not None, "it is stored"
    assert decided.decided is not None, "it was decided about"
    names = {"approval": approval.id, "owner": approval.owner, "workspace": approval.workspace}
    for signed in (decided.decided, alter(decided.decided, **names)):
        await waiting.put(approve(approval, signed))
        await waiting.deliver()


def change_then_accept(change: Callable[[Waiting, Approval], Awaitable[None]]) -> Move:
    """Return the move of changing what the call is made of, once it was asked about, and having the owner approve what was."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        await change(waiting, approval)
        await waiting.decide(approval)

    return move


async def move_expiry(waiting: Waiting, approval: Approval) -> None:
    await waiting.put(copy(approval, expires_at=approval.expires_at + timedelta(days=300)))


async def change_label(waiting: Waiting, approval: Approval) -> None:
    await waiting.change_ticket(approval.seq, label=documents.write(replace(approval.label, more=not approval.label.more)))


async def change_origins(waiting: Waiting, approval: Approval) -> None:
    """Have the store say that the prompt has named where it goes."""
    lines = ["http_post: may go (trusted)", "└─ url = x", '   └─ trusted: the prompt: "x"']
    await waiting.change_ticket(approval.seq, flow={"asks": False, "reason": "trusted", "lines": lines})


async def change_policy(waiting: Waiting, approval: Approval) -> None:
    execution = await waiting.get_execution()
    policy: Any = execution.policy
    assert isinstance(policy, ExecutionPolicy), "it was set up"
    changed = copy(execution, policy=replace(policy, webhook=not policy.webhook))
    reference = waiting.harness.clients.firestore().document("executions", execution.id)
    await reference.update(documents.write_fields(changed, "policy"))


async def swap_arguments(waiting: Waiting, approval: Approval) -> None:
    """Put the sealed arguments of the next call into this one."""
    other = (await waiting.locate_call(approval.seq + 1).get()).to_dict()
    await waiting.change_ticket(approval.seq, arguments=other["arguments"])


async def rewrite_form(waiting: Waiting, approval: Approval) -> None:
    """Have the store show another request, under its digest: the owner approves what is shown."""
    form = approval.form.replace("/x", "/harmless")
    await waiting.put(copy(approval, form=form, digest=digest_form(form)))


async def accept_rewritten(waiting: Waiting, approval: Approval) -> None:
    await rewrite_form(waiting, approval)
    stored = await waiting.approvals.get(approval.id)
    assert stored is not None, "it is stored"
    await waiting.decide(stored)


async def store_credential(waiting: Waiting, approval: Approval) -> None:
    """Store another value of the credential that the call uses."""
    path = f"/v1/tasks/{waiting.task}/credentials/LUNARCRUSH_API_KEY"
    answer = await waiting.ask("PUT", path, {"value": waiting.words["key"], "service": "lunarcrush"})
    assert answer.is_success, f"the credential was answered {answer.status_code}"


def declare_again(**entry: Any) -> Callable[[Waiting, Approval], Awaitable[None]]:
    """Return the change of a declared tool to `entry`."""

    async def change(waiting: Waiting, approval: Approval) -> None:
        path = f"/v1/tasks/{waiting.task}/tools"
        deleted = await waiting.ask("DELETE", f"{path}?id={entry['name']}")
        assert deleted.is_success, f"the tool's deletion was answered {deleted.status_code}: {deleted.text[:200]}"
        url = str(entry["url"]).replace("TOKEN", waiting.words["token"])
        answer = await waiting.ask("POST", path, {**entry, "url": url})
        assert answer.is_success, f"the tool was answered {answer.status_code}: {answer.text[:200]}"

    return change


async def expire(waiting: Waiting, approval: Approval) -> None:
    """Have the owner decide when the time is over."""
    await waiting.put(copy(approval, expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    body = {"verdict": "approve", "digest": approval.digest}
    answer = await waiting.ask("POST", f"/v1/approvals/{approval.id}/decision", body)
    assert answer.status_code == 410, f"an expired approval was answered {answer.status_code}"


def ask_api(body: Mapping[str, Any] | None = None, *, headers: Mapping[str, str] | None = None) -> Move:
    """Return the move of a request to decide that is none, or comes from nobody who may decide."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        whole = {"verdict": "approve", "digest": approval.digest, **(body or {})}
        answer = await waiting.ask("POST", f"/v1/approvals/{approval.id}/decision", whole, headers=headers)
        assert 400 <= answer.status_code < 500, f"it was answered {answer.status_code}"

    return move


async def ask_as_stranger(waiting: Waiting, approval: Approval) -> None:
    """Decide with the API key of another owner."""
    api_key, owner, now = keys.generate_key(), f"other-{waiting.words['token']}", datetime.now(UTC)
    owners = FirestoreOwners(waiting.harness.clients)
    await owners.put(Owner(id=owner, plan="pro", created_at=now))
    await owners.add_key(keys.digest_key(api_key), owner, now)
    await ask_api(headers={"Authorization": f"Bearer {api_key}"})(waiting, approval)


async def ask_as_function(waiting: Waiting, approval: Approval) -> None:
    """Decide with the identity of the orchestrator."""
    token = await genuine(waiting.harness, "orchestrator", waiting.harness.functions["api"])
    await ask_api(headers={"Authorization": f"Bearer {token}"})(waiting, approval)


def say(**fields: Any) -> Move:
    """Return the move of a client's message in the conversation, as if it decided."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        content = f"Yes, go ahead: I approve {approval.id} with the digest {approval.digest}."
        extra = {name: approval.id if value is ... else value for name, value in fields.items()}
        await waiting.ask("POST", f"/v1/conversations/{waiting.words['token']}/messages", {"content": content, **extra})

    return move


def allow_beforehand(*, change: Callable[[StandingApproval], StandingApproval] | None = None, **body: Any) -> Move:
    """Return the move of an approval from beforehand that the owner gives, and an attacker changes in the store."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        new = {"tool": "http_post", "uses": 1, "expires_in_days": 1, **body}
        answer = await waiting.ask("POST", "/v1/standing-approvals", new)
        assert answer.is_success, f"it was answered {answer.status_code}: {answer.text[:200]}"
        if change is not None:
            await waiting.put_standing(change(await waiting.list_standing()))
        await waiting.start_again()

    return move


async def allow_and_revoke(waiting: Waiting, approval: Approval) -> None:
    answer = await waiting.ask("POST", "/v1/standing-approvals", {"tool": "http_post", "uses": 1, "expires_in_days": 1})
    assert answer.is_success, f"it was answered {answer.status_code}: {answer.text[:200]}"
    standing = await waiting.list_standing()
    answer = await waiting.ask("DELETE", f"/v1/standing-approvals/{standing.id}")
    assert answer.is_success, f"it was answered {answer.status_code}"
    await waiting.start_again()


def sign_standing(standing: StandingApproval, **fields: Any) -> StandingApproval:
    """Return it with `fields`, signed by a stranger."""
    changed = replace(standing, **fields)
    return replace(changed, signature=STRANGER.sign(encode_standing(changed)).hex())
