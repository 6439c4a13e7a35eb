"""Mutations: one byte, or one field, that is another one when the call is sent than when a person approved it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from ferryman.domain.credentials.credential import AuthType, Secret
from ferryman.domain.executions.policy import ServiceHeaders
from ferryman.domain.labels.label import Confidentiality, Integrity
from ferryman.domain.tools.settings import ToolSettings
from tests.campaigns.approvals.rig import GRANT, JUDGED, POLICY, RENEWED, TOOL, Rig, State, flip

Change = Callable[[State, random.Random], State]

BASES = tuple(
    replace(state, origins=JUDGED)
    for state in (
        State(),
        State(grant=GRANT),
        State(tool="refund", arguments={}),
        State(tool="refund", arguments={}, grant=GRANT),
    )
)


def change_url(state: State, rng: random.Random) -> State:
    head, host, rest = str(state.arguments["url"]).partition("api.stripe.com")
    return replace(state, arguments={**state.arguments, "url": head + host + flip(rest, rng)})


def change_host(state: State, rng: random.Random) -> State:
    other = str(state.arguments["url"]).replace("api.stripe", "files.stripe")
    return replace(state, arguments={**state.arguments, "url": other})


def change_method(state: State, rng: random.Random) -> State:
    return replace(state, arguments={**state.arguments, "method": "PUT"})


def change_header(state: State, rng: random.Random) -> State:
    headers = {name: flip(value, rng) for name, value in state.arguments["headers"].items()}
    return replace(state, arguments={**state.arguments, "headers": headers})


def change_body(state: State, rng: random.Random) -> State:
    body = dict(state.arguments["body"])
    name = rng.choice([*body])
    body[name] = body[name] + rng.choice((-1, 1)) if isinstance(body[name], int) else flip(body[name], rng)
    return replace(state, arguments={**state.arguments, "body": body})


def change_version(state: State, rng: random.Random) -> State:
    """Store the credential again, or connect it again, as a person does."""
    version = state.label.version + rng.randint(1, 9)
    grant = None if state.grant is None else replace(state.grant, consented=version)
    return replace(state, label=replace(state.label, version=version), grant=grant, secret=RENEWED)


def change_grant(state: State, rng: random.Random) -> State:
    assert state.grant is not None
    name = rng.choice(("token_url", "client_id", "scopes"))
    value: Any = getattr(state.grant, name)
    value = (flip(value[0], rng), *value[1:]) if name == "scopes" else flip(value, rng)
    return replace(state, grant=replace(state.grant, **{name: value}))


def change_hosts(state: State, rng: random.Random) -> State:
    return replace(state, label=replace(state.label, hosts=state.label.hosts[:1]))


def change_injection(state: State, rng: random.Random) -> State:
    name = flip("x-api-key", rng)
    return replace(state, label=replace(state.label, auth_type=AuthType.HEADER, auth_header_name=name))


def change_declaration(state: State, rng: random.Random) -> State:
    """Declare the tool as another one by a byte of its path, query, header or body."""
    part = rng.choice(("url", "query", "headers", "body", "description"))
    changes: dict[str, Any] = {
        "url": f"https://api.stripe.com/v1/{flip('refunds', rng)}",
        "query": {"mode": flip("full", rng)},
        "headers": {**TOOL.headers, "X-Kind": flip("refund", rng)},
        "body": {"charge": flip("ch_fixed", rng), "key": "{{secrets.STRIPE}}"},
        "description": flip("gives money back", rng),
    }
    tool = replace(state.declared, **{part: changes[part]})
    declared = {**state.policy.declared, "refund": tool.fingerprint} if rng.random() < 0.5 else state.policy.declared
    return replace(state, declared=tool, policy=replace(state.policy, declared=declared))


def change_label(state: State, rng: random.Random) -> State:
    if rng.random() < 0.5:
        return replace(state, flow=replace(state.flow, integrity=Integrity.TRUSTED))
    other = rng.choice([level for level in Confidentiality if level is not state.flow.confidentiality])
    return replace(state, flow=replace(state.flow, confidentiality=other))


def change_origins(state: State, rng: random.Random) -> State:
    """Have another source said to have decided an argument, or none at all."""
    assert state.origins is not None, "it was judged"
    first, argument, source = state.origins.lines
    lines = rng.choice(
        (
            (),
            (first,),
            (first, flip(argument, rng), source),
            (first, argument, source.replace("untrusted: in no trusted text", 'trusted: the prompt: "ch_abcdefgh"')),
        )
    )
    return replace(state, origins=replace(state.origins, lines=lines))


def change_policy(state: State, rng: random.Random) -> State:
    policy = state.policy
    changes: dict[str, Any] = {
        "webhook_urls": (flip(POLICY.webhook_urls[0], rng),),
        "declared": {**policy.declared, "other": flip("0123456789abcdef", rng, "0123456789abcdef")},
        "headers": (*policy.headers, ServiceHeaders(domains=("x.example",), names=(flip("x-one", rng),))),
        "settings": {"other": ToolSettings(arguments={"account": flip("acct_main", rng)})},
        "domains": (*policy.domains, flip("example.com", rng)),
        "tools": (*policy.tools, flip("calculator", rng)),
        "plan": replace(policy.plan, file_bytes=policy.plan.file_bytes + rng.randint(1, 1000)),
        "webhook": not policy.webhook,
        "former": not policy.former,
    }
    name = rng.choice([*changes])
    return replace(state, policy=replace(policy, **{name: changes[name]}))


def change_place(state: State, rng: random.Random) -> State:
    name = rng.choice(("workspace", "agent", "owner", "task", "execution"))
    return replace(state, **{name: flip(getattr(state, name), rng)})


CALLED: dict[str, Change] = {
    "request: url": change_url,
    "request: host": change_host,
    "request: method": change_method,
    "request: headers": change_header,
    "request: body": change_body,
}
ANY: dict[str, Change] = {
    "grant: stored or connected again": change_version,
    "grant: hosts": change_hosts,
    "grant: way of injection": change_injection,
    "labels": change_label,
    "where an argument came from": change_origins,
    "policy": change_policy,
    "place": change_place,
}


def draw_base(rng: random.Random) -> State:
    return rng.choice(BASES)


def list_changes(base: State) -> dict[str, Change]:
    """Return the changes that there are of a call of this state."""
    changes = {**ANY}
    if base.tool == "api_call":
        changes |= CALLED
    else:
        changes["tool declaration"] = change_declaration
        del changes["grant: way of injection"]  # it is the declaration that says where a placeholder is
    if base.grant is not None:
        changes["grant: client, token URL, scopes"] = change_grant
    return changes


async def approve(base: State) -> Rig:
    """Return a rig whose call waits, with the decision of a person that approves it."""
    rig = Rig(base)
    assert await rig.send() == 0
    assert rig.is_asked()
    await rig.decide()
    return rig


async def try_mutation(rng: random.Random) -> tuple[str, str]:
    """Return what was changed after a person approved, and what came of it: `asked`, `refused` or `sent`."""
    base = draw_base(rng)
    rig, changes = await approve(base), list_changes(base)
    kind = rng.choice([*changes, "expiry"])
    if kind == "expiry":
        return kind, await _try_expiry(rig, rng)
    before, after = rig.ticket(), changes[kind](base, rng)
    if after.execution != base.execution:  # the ticket is carried over, with its approval
        rig.memory.tickets[after.execution] = {0: before}
    rig.place(after)
    return kind, await judge(rig)


async def _try_expiry(rig: Rig, rng: random.Random) -> str:
    """Move the expiry of the approval as it is stored, or the clock beyond it."""
    approval = rig.approval()
    if rng.random() < 0.5:
        moved = approval.expires_at + timedelta(microseconds=rng.choice((-1, 1)) * rng.randint(1, 10**9))
        rig.memory.approvals[approval.id] = replace(approval, expires_at=moved)
    else:
        rig.clock.turn((approval.expires_at - rig.clock.now()).total_seconds() + rng.randint(0, 1000))
    return await judge(rig)


async def judge(rig: Rig) -> str:
    if await rig.send():
        return "sent"
    return "asked" if rig.is_asked() else "refused"


async def try_renewal(rng: random.Random) -> str:
    """Renew the token between approval and send: nobody is asked again."""
    base = rng.choice([base for base in BASES if base.grant is not None])
    rig = await approve(base)
    assert base.grant is not None
    secret = RENEWED[:-4] + "".join(rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=4))
    grant = replace(base.grant, refresh_token=Secret(secret[::-1]), expires_at=rig.clock.now() + timedelta(days=91))
    label = replace(base.label, version=base.label.version + rng.randint(1, 40))
    rig.place(replace(base, secret=secret, label=label, grant=grant))
    return await judge(rig)
