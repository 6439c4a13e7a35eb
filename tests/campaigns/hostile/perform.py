"""Run one scenario through the API, as an owner of its own, and collect everything that the API answers about it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import grpc
import httpx
from google.api_core.exceptions import AlreadyExists

from ferryman.domain.owners.owner import Owner
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.owners import FirestoreOwners
from ferryman.serving import keys
from tests.campaigns.hostile import added, alerted, archived, direct, filed, forge
from tests.campaigns.hostile.chatted import Chatting
from tests.campaigns.hostile.harness import Harness
from tests.campaigns.hostile.members import bring_in, describe_place
from tests.campaigns.hostile.scenario import (
    CALLS,
    CREATES,
    KEYS,
    PUBLIC,
    USER,
    Act,
    Answer,
    Scenario,
    call,
    call_tools,
    finish,
)
from tests.campaigns.hostile.scenario_run import ScenarioRun, prepare_run
from tests.campaigns.hostile.spelling import fill
from tests.campaigns.hostile.waiting import Waiting, attempt

TIMEOUT_S = 300.0
POLL_S = 0.5
"""The end of an execution is read from the store, which costs a tenth of a request to the API."""

CREATED, ACCEPTED = 201, 202
ID_FIELDS: Mapping[str, str] = {"mine": "execution_id", "mtask": "task_id", "magent": "agent_id", "mchat": "conversation_id"}
"""Words for what an attacker makes, and the fields of answers in which they are."""

CONVERSATION_MAX = "110"
"""The limit of the conversation of a victim who goes on in it: its executions reserve 100 credits each and use about three."""


UNASKED = [{"mode": "never"}]
"""The rules of a task where a scenario names none: nobody is asked, so that every other layer is alone."""

MODEL = "scripted/"
QUARANTINE = "You read one value out of a text"
"""How the system prompt of the quarantined model begins."""

VICTIM = Scenario(
    name="victim",
    turns=(
        call_tools(
            call("http_get", url=f"https://{PUBLIC}/{{token}}/one"),
            call("http_post", url=f"https://{PUBLIC}/{{token}}/slow", body={}),
        ),
        finish("The board will sell. {secret}"),
    ),
    answers={"/one": Answer(body="{secret}"), "/slow": Answer(body="{secret}", pause_s=3.0)},
    tools=("http_get", "http_post"),
    services=("coingecko", "lunarcrush"),
    task={"description": "{secret}", "system_prompt": "{secret}"},
)
"""The owner whose data is attacked: an execution with one call completed and a POST under way for 3 seconds."""


async def run_scenario(harness: Harness, run: ScenarioRun) -> ScenarioRun:
    """Run it to its end; what prevents one is its `trouble`."""
    scenario = run.scenario
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await _enter(harness, run)
            if scenario.victim:
                await _act(harness, run)
            if scenario.turns and not scenario.acts_alone:
                await _run(harness, run)
            if scenario.resumes:
                await _resume(harness, run)
            if scenario.room is not None:
                run.files = await _request(harness, run, "GET", "/v1/files")
    except TimeoutError:
        run.trouble = f"it had not ended after {TIMEOUT_S:g} s"
    except Exception as error:  # noqa: BLE001 - whatever prevents one is told of it, and the others go on
        run.trouble = f"{type(error).__name__}: {error}"[:300]
    return run


async def _enter(harness: Harness, run: ScenarioRun) -> None:
    """Create the owner, the hosts, the script, the task and its credentials."""
    scenario, words = run.scenario, run.words
    owner, now = f"owner-{run.token}", datetime.now(UTC)
    owners = FirestoreOwners(harness.clients)
    await asyncio.gather(
        owners.put(Owner(id=owner, plan=scenario.plan, created_at=now)), owners.add_key(keys.digest_key(run.key), owner, now)
    )
    harness.upstream.answers[run.token] = {
        **added.serve(scenario, words),
        **{end: _fill_answer(answer, words) for end, answer in {"": Answer(), **scenario.answers}.items()},
    }
    for server in scenario.servers:
        if server.host not in scenario.names:
            await harness.map_host(fill(server.host, words), ())
    for name, addresses in scenario.names.items():
        await harness.map_host(fill(name, words), addresses)
    for name in scenario.clear:
        await harness.admin.serve_routes(fill(name, words), [{"path": "*", "body": words["marker"]}])
    words |= filed.forge_links(words["workspace"], run.key)
    if scenario.room is not None:
        await filed.leave_room(harness, owner, words["workspace"], scenario.plan, scenario.room)
    if not scenario.turns:
        return
    script: dict[str, Any] = {"steps": fill(scenario.turns, words)}
    if scenario.quarantined:
        role = f"{run.token}-quarantined"
        await harness.admin.set_script(role, {"steps": fill(scenario.quarantined, words)})
        script["roles"] = {QUARANTINE: role}
    await harness.admin.set_script(run.token, script)
    agent = await _make_agent(harness, run) if scenario.agent or scenario.servers else None
    words["agent"] = agent or ""
    task = {
        "name": run.token,
        "agent_id": agent,
        "task_prompt": "Do it.",
        "model": f"{MODEL}{run.token}",
        "tools": scenario.tools,
        "integrations": scenario.services,
        "approvals": UNASKED,
        **fill(dict(scenario.task), words),
    }
    run.task = (await _request(harness, run, "POST", "/v1/tasks", task))["task_id"]
    for word in scenario.keys:
        name, service = KEYS[word]
        if service in scenario.services:
            path = f"/v1/tasks/{run.task}/credentials/{name}"
            value = {"value": f"{USER}:{words[word]}", "auth_type": "basic"} if word == "bkey" else {"value": words[word]}
            await _request(harness, run, "PUT", path, {**value, "service": service})
    await _prepare(harness, run)


async def _make_agent(harness: Harness, run: ScenarioRun) -> str:
    """Make an agent of the owner's as the scenario has it, and return its id."""
    agent = await _request(harness, run, "POST", "/v1/agents", {"name": run.token, **fill(dict(run.scenario.agent), run.words)})
    return str(agent["agent_id"])


async def _prepare(harness: Harness, run: ScenarioRun) -> None:
    """Send the owner's declarations and requests; a declaration has to be accepted, anything else may be refused."""
    run.words["task"] = run.task
    for entry in run.scenario.declared:
        await _request(harness, run, "POST", f"/v1/tasks/{run.task}/tools", fill(dict(entry), run.words))
    await added.add_servers(harness, run)
    for act in run.scenario.before:
        status, body = await _send(harness, run, act)
        run.setup_results.append((act, status, body))
        run.responses.append(alerted.take_secret(run.words, body))
    for name, addresses in run.scenario.renames.items():
        await harness.map_host(fill(name, run.words), addresses)


async def _run(harness: Harness, run: ScenarioRun) -> None:
    if run.scenario.chat:
        await _chat(harness, run)
        return
    fields = {"input": run.scenario.input, "conversation": run.scenario.conversation}
    start = {name: fill(text, run.words) for name, text in fields.items() if text}
    await _start(harness, run, start)
    if run.scenario.moves:
        waiting = Waiting(harness, run.bearer, run.task, run.execution, run.words)
        try:
            await attempt(waiting, run.scenario.moves)
        finally:
            run.execution = waiting.execution
    await _end(harness, run)
    if run.scenario.alerted:
        await _attack_alert(harness, run)


async def _chat(harness: Harness, run: ScenarioRun) -> None:
    """Have the owner talk with the task, and note all that is answered."""
    chatting = Chatting(harness, run.bearer)
    chat = run.chat = await chatting.begin(run.task)
    await chatting.talk(chat, fill(run.scenario.chat, run.words))
    for run.execution in chat.executions:
        await _end(harness, run)
    run.responses += [*chat.pages, *(content for watched in chat.streams for content in watched.list_contents())]


async def _attack_alert(harness: Harness, run: ScenarioRun) -> None:
    """Send the requests about the alert once it was attempted, and look for its secret in what the API tells."""
    run.words["alert"] = await alerted.await_attempt(harness, f"owner-{run.token}", run.words["workspace"])
    for act in run.scenario.after:
        for _ in range(act.times):
            status, body = await _send(harness, run, act)
            run.after.append((act, status, body))
            run.responses.append(alerted.hide_address(run.words, body))
    run.responses += await alerted.ask_everywhere(harness, run.bearer, run.words)


async def _start(harness: Harness, run: ScenarioRun, start: Mapping[str, Any]) -> None:
    run.execution = (await _request(harness, run, "POST", f"/v1/tasks/{run.task}/executions", start))["execution_id"]


async def _ask(harness: Harness, run: ScenarioRun) -> asyncio.Future[httpx.Response]:
    """Start an execution with a message in a conversation of its own, and return the request, which waits for the answer."""
    chat = await Chatting(harness, run.bearer).begin(run.task)
    run.words["talk"], path = chat.name, f"/v1/conversations/{chat.name}"
    body = {"content": "Is it decided?"}
    asking = asyncio.ensure_future(harness.http.post(f"{harness.url}{path}/messages", json=body, headers=run.bearer))
    while not (pending := (await _request(harness, run, "GET", path))["pending"]):  # noqa: ASYNC110 - another process stores it
        await asyncio.sleep(POLL_S)
    run.execution = pending[0]["execution_id"]
    return asking


async def _resume(harness: Harness, run: ScenarioRun) -> None:
    """Have the victim go on in its conversation, once what the attacker started has ended."""
    assert run.victim is not None, "there is a victim"
    if "mine" in run.words:
        await _await_end(harness, run.words["mine"])
    await _start(harness, run.victim, {"conversation": run.victim.words["talk"]})
    await _end(harness, run.victim)


async def _await_end(harness: Harness, name: str) -> None:
    executions = FirestoreExecutions(harness.clients)
    while (execution := await executions.get(name)) is None or not execution.status.terminal:  # noqa: ASYNC110 - another process ends it
        await asyncio.sleep(POLL_S)


async def _end(harness: Harness, run: ScenarioRun) -> None:
    path = f"/v1/executions/{run.execution}"
    await _await_end(harness, run.execution)
    run.record = await _request(harness, run, "GET", path)
    run.responses.append(json.dumps(run.record).encode())
    run.credits_used += Decimal(run.record["credits_used"])
    for page in (f"{path}/calls", f"{path}/events"):
        answer = await harness.http.get(harness.url + page, headers=run.bearer)
        assert answer.is_success, f"{page} answered {answer.status_code}"
        run.responses.append(answer.content)
    run.me = await _request(harness, run, "GET", "/v1/me")
    run.budgets = (await _request(harness, run, "GET", "/v1/budget"))["budgets"]
    if run.task:
        run.tools = (await _request(harness, run, "GET", f"/v1/tasks/{run.task}/tools"))["data"]
        run.responses.append(json.dumps(run.tools).encode())


async def _request(harness: Harness, run: ScenarioRun, method: str, path: str, body: Any = None) -> Any:
    answer = await harness.http.request(method, harness.url + path, json=body, headers=run.bearer)
    assert answer.is_success, f"{method} {path} answered {answer.status_code}: {answer.text[:200]}"
    return answer.json()


async def _act(harness: Harness, run: ScenarioRun) -> None:
    """Send the attacker's requests while the victim's execution has one call behind it and one under way, or, where the victim
    goes on afterwards, once it has ended."""
    slow = replace(VICTIM.answers["/slow"], pause_s=run.scenario.victim_s)
    has_answers = {**VICTIM.answers, "/slow": slow}
    victim = run.victim = prepare_run(replace(VICTIM, answers=has_answers, before=run.scenario.victim_before))
    await _enter(harness, victim)
    for member in run.scenario.members:
        run.member_keys[member.name] = await bring_in(harness, victim.bearer, member, run.words)
    if run.scenario.resumes:
        path = f"/v1/workspaces/{victim.words['workspace']}"
        await _request(harness, victim, "PATCH", path, {"conversation_credits_max": CONVERSATION_MAX})
    asking = await _ask(harness, victim) if run.scenario.victim_chats else None
    if asking is None:
        await _start(harness, victim, {"conversation": victim.words["talk"]})
    while not any(item.target == f"/{victim.token}/slow" for item in reversed(harness.upstream.seen)):  # noqa: ASYNC110 - another process asks
        await asyncio.sleep(0.05)
    run.words |= {"vtask": victim.task, "vexec": victim.execution, "vtalk": victim.words["talk"]}
    run.words["vchat"] = victim.words["talk"]
    run.words |= describe_place(victim.token)
    # what belongs to the victim, in requests that are answered without it
    run.words |= {"other": run.words["vworkspace"], "vlink": victim.words["link"]}
    if run.scenario.turns:
        await harness.admin.set_script(run.token, {"steps": fill(run.scenario.turns, run.words)})
    if run.scenario.resumes:
        await _end(harness, victim)  # what it has used is counted before it is attacked
    for act in run.scenario.acts:
        gate = asyncio.Semaphore(act.at_once)
        await asyncio.gather(*(_send_at_once(harness, run, act, gate, number) for number in range(act.times)))
    if run.imports:
        run.board = (await harness.http.get(f"{harness.url}{filed.FILES}board.md", headers=victim.bearer)).text
    if asking is not None:
        victim.responses.append((await asking).content)
    if not run.scenario.resumes:
        await _end(harness, victim)


async def _send_at_once(harness: Harness, run: ScenarioRun, act: Act, gate: asyncio.Semaphore, number: int) -> None:
    async with gate:
        status, body = await _send(harness, run, act, number)
    run.acts.append((act, status, body))
    for word, field_name in ID_FIELDS.items():
        if status in (CREATED, ACCEPTED) and f'"{field_name}"'.encode() in body:
            run.words[word] = json.loads(body)[field_name]


async def _send(harness: Harness, run: ScenarioRun, act: Act, number: int = 0) -> tuple[int, bytes]:
    if act.method == CALLS:
        return await _call(harness.places[act.to], act)
    if act.method == CREATES:
        return await _create(harness, fill(act.path, run.words), fill(act.body, run.words))
    if act.method == archived.IMPORTS_FORGED:
        run.importer = run.importer or archived.Importer(harness=harness, headers=run.bearer, workspace=run.words["workspace"])
        run.imports.append(await run.importer.run(fill(act.body, run.words)))
        return run.imports[-1].status, run.imports[-1].body
    url = harness.places[act.to]
    headers = fill(dict(act.headers), run.words)
    if act.bearer == "mine":
        headers |= run.bearer
    elif act.bearer in run.member_keys:
        headers["Authorization"] = f"Bearer {run.member_keys[act.bearer]}"
    elif act.bearer == "operator":
        headers |= harness.admin.bearer
    elif (token := await forge.bearer(harness, act.bearer, act.to)) is not None:
        headers[act.bearer_header] = f"Bearer {token}"
    body = {"content": act.body} if isinstance(act.body, bytes) else {"json": fill(act.body, run.words)}
    path = fill(act.path, {**run.words, "number": str(number)})
    answer = await harness.http.request(act.method, url + path, headers=headers, **body)
    filed.take_link(run.words, answer)
    direct.take_direct_link(run.words, run.signatures, answer)
    if act.to == direct.BUCKET and act.method == "GET" and answer.is_success:
        run.followed.append((act.path, answer.headers.multi_items()))
    if act.method == "GET" and path.startswith(filed.FILES) and answer.is_success:
        run.downloads.append((act.path, answer.headers.multi_items()))
    return answer.status_code, answer.content


async def _call(url: str, act: Act) -> tuple[int, bytes]:
    """Return the answer of a gRPC call, with status 401 where it was refused for want of a token."""
    metadata = tuple((name.lower(), value) for name, value in act.headers.items())
    async with grpc.aio.insecure_channel(url.removeprefix("http://")) as channel:
        call = channel.unary_stream(act.path)(act.body, metadata=metadata, timeout=TIMEOUT_S)
        try:
            answer = b"".join([item async for item in call])
        except grpc.aio.AioRpcError as error:
            return (401 if error.code() is grpc.StatusCode.UNAUTHENTICATED else 500), str(error.details()).encode()
    return 200, answer


async def _create(harness: Harness, name: str, fields: Mapping[str, Any]) -> tuple[int, bytes]:
    """Return what becomes of a document, with status 200 where it is admitted as an execution, 409 where its name is taken and
    422 where it is refused."""
    reference = harness.clients.firestore().collection("executions").document(name)
    try:
        created = (await reference.create(dict(fields))).update_time
    except AlreadyExists:
        return 409, b""
    while (snapshot := await reference.get()).update_time == created:  # noqa: ASYNC110 - another process answers it
        await asyncio.sleep(POLL_S)
    answered = snapshot.to_dict() or {}
    return (200 if answered["admitted"] else 422), str(answered).encode()


def _fill_answer(answer: Answer, words: Mapping[str, str]) -> Answer:
    body = fill(answer.body, words)
    raw = None if answer.raw is None else fill(answer.raw.decode("latin-1"), words).encode("latin-1")
    headers, renames = fill(dict(answer.headers), words), fill(dict(answer.renames), words)
    return replace(answer, headers=headers, body=body, raw=raw, renames=renames)
