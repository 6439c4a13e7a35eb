"""Sends: each uses one of those that were approved, the same call after a crash the same one, and no call one too many."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from datetime import timedelta

from ferryman.domain.approvals.standing import StandingApproval, encode_standing
from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.inmemory.clock import START
from tests.campaigns.approvals.mutations import BASES
from tests.campaigns.approvals.rig import KEY, Rig


async def try_sends(rng: random.Random) -> list[str]:
    """Approve N sends, make N + 2 calls of the same form, and have some of them sent again. Return what is wrong."""
    most, wrong = rng.randint(1, 5), list[str]()
    rig = Rig(rng.choice(BASES), calls=most + 2)
    await rig.send(0)
    await rig.decide(0, sends_max=most)
    for seq in range(most):
        if await rig.send(seq) != 1:
            wrong.append(f"call {seq} of {most} that were approved was not sent")
    again = rng.randrange(most)
    forget_outcome(rig, again)
    if await rig.send(again) != 1:
        wrong.append("the same call was not sent again under the send that it had used")
    for seq in (most, most + 1):
        if await rig.send(seq) != 0 or not rig.is_asked(seq):
            wrong.append(f"call {seq} was not asked about, though {most} sends were approved")
    used = {approval.sent for approval in rig.memory.approvals.values() if approval.decided is not None}
    if used != {tuple(range(most))}:
        wrong.append(f"{used} were used")
    return wrong


def forget_outcome(rig: Rig, seq: int) -> None:
    """Have the instance die between the send and the commit of its result, and the call's deadline pass."""
    ticket: Ticket = rig.ticket(seq)
    tickets = rig.memory.tickets[rig.state.execution]
    died = replace(ticket, state=TicketState.SENT, result=None, settled_at=None, approved=None)
    tickets[seq] = replace(died, deadline=rig.clock.now() - timedelta(seconds=1))


async def try_standing(rng: random.Random) -> list[str]:
    """Have calls run at once under an approval from beforehand. Return what is wrong."""
    uses, calls = rng.randint(1, 12), rng.randint(1, 24)
    rig = Rig(rng.choice(BASES), calls=calls)
    standing = StandingApproval(
        id="standing_a",
        owner=rig.state.owner,
        workspace=rig.state.workspace,
        tool=rig.state.tool,
        fingerprint=rig.state.declared.fingerprint if rig.state.tool == "refund" else "",
        hosts=("api.stripe.com",),
        uses_max=uses,
        by="person_a",
        created_at=START,
        expires_at=START + timedelta(days=1),
        key=1,
    )
    signed = replace(standing, signature=KEY.sign(encode_standing(standing)).hex())
    rig.memory.standing_approvals[signed.id] = signed
    await asyncio.gather(*(rig.send(seq) for seq in range(calls)))
    approved = [seq for seq in range(calls) if rig.ticket(seq).approved is not None]
    questions = [seq for seq in range(calls) if rig.is_asked(seq)]
    names = rig.memory.standing_approvals[signed.id].used
    expected = min(uses, calls)
    if (len(approved), len(questions), len(names)) != (expected, calls - expected, expected):
        return [
            f"{len(approved)} of {calls} calls were sent under {uses} uses, {len(questions)} asked about, {len(names)} taken"
        ]
    return []
