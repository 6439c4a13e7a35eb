"""Performing: one play through the API, as an owner of its own, and everything that was said about it."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import httpx

from ferryman.domain.owner import Owner
from ferryman.gcp.owners import FirestoreOwners
from ferryman.serving import keys
from ferryman.wiring.local.admin import Refused
from tests.hostile import forge
from tests.hostile.play import FRESH, KEYS, PUBLIC, Act, Answer, Play, asks, call, says
from tests.hostile.spelling import filled, spelt
from tests.hostile.stage import Stage, new_key

PATIENCE_S = 300.0
POLL_S = 0.8
MODEL = "scripted/"
TERMINAL = ("completed", "failed", "timeout", "killed")
VICTIM = Play(
    name="victim",
    turns=(
        asks(
            call("http_get", url=f"https://{PUBLIC}/{{token}}/one"),
            call("http_get", url=f"https://{PUBLIC}/{{token}}/slow"),
        ),
        says("The board will sell. {secret}"),
    ),
    answers={"/one": Answer(body="{secret}"), "/slow": Answer(body="{secret}", pause_s=3.0)},
    tools=("http_get",),
    services=("coingecko", "lunarcrush"),
    task={"description": "{secret}", "system_prompt": "{secret}"},
)
"""Whose data is to be seen, spent or spoilt: an execution that has one call behind it and one under way for 3 seconds."""


@dataclass(slots=True, kw_only=True)
class Performed:
    """What became of a play: the API's answers, the answers to its acts, and the words that its texts were filled with."""

    play: Play
    words: dict[str, str] = field(repr=False)
    loot: set[str] = field(default_factory=set, repr=False)
    key: str = field(default_factory=keys.new_key, repr=False)
    task: str = ""
    execution: str = ""
    record: Mapping[str, Any] = field(default_factory=dict, repr=False)
    me: Mapping[str, Any] = field(default_factory=dict, repr=False)
    said: list[bytes] = field(default_factory=list, repr=False)
    acts: list[tuple[Act, int, bytes]] = field(default_factory=list, repr=False)
    asked: list[tuple[Act, int, bytes]] = field(default_factory=list, repr=False)
    tools: list[Mapping[str, Any]] = field(default_factory=list, repr=False)
    trouble: str | None = None
    victim: Performed | None = None

    @property
    def bearer(self) -> dict[str, str]:
        """The header of the owner's API key."""
        return {"Authorization": f"Bearer {self.key}"}

    @property
    def token(self) -> str:
        return self.words["token"]


def cast(play: Play) -> Performed:
    """`play` with words of its own."""
    token = f"t{secrets.token_hex(6)}"
    words = {
        "token": token,
        "marker": f"said-{token}",
        "secret": f"board-{secrets.token_hex(8)}",
        "thief": f"{token}.attacker.example",
    }
    words |= {word: new_key() for word in (*KEYS, *FRESH)}
    loot = spelt(
        [play.turns, [vars_of(each) for each in play.answers.values()]], {word: words[word] for word in (*KEYS, *FRESH)}
    )
    return Performed(play=play, words=words, loot=loot)


def vars_of(answer: Answer) -> list[Any]:
    """The texts of an answer."""
    return [dict(answer.headers), answer.body if isinstance(answer.body, str) else ""]


async def perform(stage: Stage, performed: Performed) -> Performed:
    """Play it to its end; whatever keeps it from one is its `trouble`."""
    play = performed.play
    try:
        async with asyncio.timeout(PATIENCE_S):
            await _enter(stage, performed)
            if play.victim:
                await _act(stage, performed)
            if play.turns:
                await _run(stage, performed)
    except TimeoutError:
        performed.trouble = f"it had not ended after {PATIENCE_S:g} s"
    except (httpx.HTTPError, AssertionError, Refused) as error:
        performed.trouble = f"{type(error).__name__}: {error}"[:300]
    return performed


async def _enter(stage: Stage, performed: Performed) -> None:
    """The owner, the hosts, the script, the task and its credentials."""
    play, words = performed.play, performed.words
    owner, now = f"owner-{performed.token}", datetime.now(UTC)
    owners = FirestoreOwners(stage.clients)
    await asyncio.gather(
        owners.put(Owner(id=owner, plan=play.plan, created_at=now)), owners.add_key(keys.digest(performed.key), owner, now)
    )
    stage.upstream.answers[performed.token] = {
        end: _filled(answer, words) for end, answer in {"": Answer(), **play.answers}.items()
    }
    for name, addresses in play.names.items():
        await _name(stage, filled(name, words), addresses)
    if not play.turns:
        return
    await stage.admin.script(performed.token, {"steps": filled(play.turns, words)})
    task = {
        "name": performed.token,
        "task_prompt": "Do it.",
        "model": f"{MODEL}{performed.token}",
        "tools": play.tools,
        "integrations": play.services,
        **filled(dict(play.task), words),
    }
    performed.task = (await _asked(stage, performed, "POST", "/v1/tasks", task))["task_id"]
    for word in play.keys:
        name, service = KEYS[word]
        if service in play.services:
            path = f"/v1/tasks/{performed.task}/credentials/{name}"
            await _asked(stage, performed, "PUT", path, {"value": words[word], "service": service})
    await _prepare(stage, performed)


async def _prepare(stage: Stage, performed: Performed) -> None:
    """What the owner declares, and asks for; a declaration has to be taken, anything else may be refused."""
    performed.words["task"] = performed.task
    for entry in performed.play.declared:
        await _asked(stage, performed, "POST", f"/v1/tasks/{performed.task}/tools", filled(dict(entry), performed.words))
    for act in performed.play.before:
        status, body = await _sent(stage, performed, act)
        performed.asked.append((act, status, body))
        performed.said.append(body)


async def _name(stage: Stage, host: str, addresses: tuple[str, ...]) -> None:
    port = stage.upstream.stranger_port if addresses == ("stranger",) else stage.upstream.port
    if not addresses or addresses == ("stranger",):
        await stage.admin.map(host, port)
        return
    body = {"port": port, "addresses": addresses, "dial": list(addresses)}
    (await stage.http.put(f"{stage.admin.url}/hosts/{host}", json=body)).raise_for_status()


async def _run(stage: Stage, performed: Performed) -> None:
    start = {"input": filled(performed.play.input, performed.words)} if performed.play.input else {}
    await _start(stage, performed, start)
    await _end(stage, performed)


async def _start(stage: Stage, performed: Performed, start: Mapping[str, Any]) -> None:
    performed.execution = (await _asked(stage, performed, "POST", f"/v1/tasks/{performed.task}/executions", start))[
        "execution_id"
    ]


async def _end(stage: Stage, performed: Performed) -> None:
    path = f"/v1/executions/{performed.execution}"
    while performed.record.get("status") not in TERMINAL:
        await asyncio.sleep(POLL_S)
        performed.record = await _asked(stage, performed, "GET", path)
    performed.said.append(json.dumps(performed.record).encode())
    for shown in (f"{path}/calls", f"{path}/events"):
        answer = await stage.http.get(stage.url + shown, headers=performed.bearer)
        assert answer.is_success, f"{shown} answered {answer.status_code}"
        performed.said.append(answer.content)
    performed.me = await _asked(stage, performed, "GET", "/v1/me")
    if performed.task:
        performed.tools = (await _asked(stage, performed, "GET", f"/v1/tasks/{performed.task}/tools"))["data"]
        performed.said.append(json.dumps(performed.tools).encode())


async def _asked(stage: Stage, performed: Performed, method: str, path: str, body: Any = None) -> Any:
    answer = await stage.http.request(method, stage.url + path, json=body, headers=performed.bearer)
    assert answer.is_success, f"{method} {path} answered {answer.status_code}: {answer.text[:200]}"
    return answer.json()


async def _act(stage: Stage, performed: Performed) -> None:
    """What the attacker does while the victim's execution has one call behind it and one under way."""
    victim = performed.victim = cast(VICTIM)
    await _enter(stage, victim)
    await _start(stage, victim, {})
    while not any(each.target == f"/{victim.token}/slow" for each in reversed(stage.upstream.seen)):  # noqa: ASYNC110 - another process asks
        await asyncio.sleep(0.05)
    performed.words |= {"vtask": victim.task, "vexec": victim.execution}
    for act in performed.play.acts:
        status, body = await _sent(stage, performed, act)
        performed.acts.append((act, status, body))
    await _end(stage, victim)


async def _sent(stage: Stage, performed: Performed, act: Act) -> tuple[int, bytes]:
    url = stage.url if act.to == "api" else stage.functions[act.to]
    headers = dict(act.headers)
    if act.bearer == "mine":
        headers |= performed.bearer
    elif (token := await forge.bearer(stage, act.bearer, act.to)) is not None:
        headers["Authorization"] = f"Bearer {token}"
    body = filled(act.body, performed.words)
    answer = await stage.http.request(act.method, url + filled(act.path, performed.words), json=body, headers=headers)
    return answer.status_code, answer.content


def _filled(answer: Answer, words: Mapping[str, str]) -> Answer:
    body = filled(answer.body, words)
    raw = None if answer.raw is None else filled(answer.raw.decode("latin-1"), words).encode("latin-1")
    return replace(answer, headers=filled(dict(answer.headers), words), body=body, raw=raw)
