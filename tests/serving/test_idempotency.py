"""Idempotency keys: whatever is sent twice, dies in between or comes at once, has its effect once and is answered the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman.composition.api import ApiDependencies
from ferryman.domain.owners import idempotency
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.tasks.task import Task
from ferryman.inmemory.tasks import MemoryTasks
from tests.canaries import canary

from .conftest import TASK, Stage, create_app
from .dying import DeathError, Life, mortal
from .routes import CONNECTION, ROUTES, TOOL, Ask

KEY = {"Idempotency-Key": '"8e03978e-40d5-43dd-bc93-6894a57f9324"'}
SECRET = canary.create_key("serving, idempotency", 24, before="cs-")
POSTS = (
    *(route for route in ROUTES if route.method == "POST" and route.path != "/v1/join"),
    Ask("POST", "/v1/tasks", 201, {**TASK, "tools": ["api_call", TOOL]}),
    Ask("POST", "/v1/tasks", 201, {**TASK, "schedule": {"type": "cron", "cron": "0 * * * *"}}),
    Ask("POST", "/v1/tasks/{task_id}/credentials/connect", 200, {**CONNECTION, "client_secret": SECRET}),
)
EACH_POST = pytest.mark.parametrize("ask", POSTS, ids=[f"{post} {number}" for number, post in enumerate(POSTS)])
STEPS_MAX = 40


@asynccontextmanager
async def asking(stage: Stage, deps: ApiDependencies | None = None, owner: str = "ann") -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of an instance of its own."""
    transport = httpx.ASGITransport(app=create_app(deps or stage.deps()))
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner(owner)) as client:
        yield client


@pytest.fixture
async def execution(client: httpx.AsyncClient, task: str) -> str:
    """An execution of ann's that is queued."""
    return str((await client.post(f"/v1/tasks/{task}/executions")).json()["execution_id"])


def forget_secrets(answer: httpx.Response) -> Any:
    """Return the body of an answer as a retry gets it: what lets somebody in is shown once, and kept nowhere."""
    body = answer.json()
    is_secret = answer.request.url.path in ("/v1/keys", "/v1/invitations", "/v1/sign-in-links")
    return {name: None if is_secret and name in ("key", "token", "url") else value for name, value in body.items()}


def effects(stage: Stage) -> dict[str, Any]:
    """Return the effects by kind; names are new in each run, so that they are counted.

    What is stored is enqueued: by the trigger (`on_execution`) where the API died before it.
    """
    memory = stage.memory
    enqueued = [(delivery.execution, delivery.slice, delivery.wake_up) for delivery in stage.queue.waiting]
    return {
        "workspaces": sorted((item.name, item.state) for item in memory.workspaces.values()),
        "tasks": len(memory.tasks),
        "executions": sorted(execution.status for execution in memory.executions.values()),
        "queued": {name: len(occupancy.queued) for name, occupancy in memory.occupancy.items()},
        "credentials": sorted(name for named in memory.credentials.values() for name in named),
        "connections": sum(len(named) for named in memory.connections.values()),
        "clusters": sorted((name, len(tools)) for named in memory.clusters.values() for name, (_, tools) in named.items()),
        "enqueued once": len(enqueued) == len(set(enqueued)) and {name for name, _, _ in enqueued} <= set(memory.executions),
    }


async def send_request(client: httpx.AsyncClient, ask: Ask, task: str, execution: str, **headers: str) -> httpx.Response:
    return await client.request("POST", ask.url(task, execution), json=ask.body, headers={**KEY, **headers})


def test_every_post_of_the_api_takes_a_key(app: FastAPI) -> None:
    posts = {path: verbs["post"] for path, verbs in app.openapi()["paths"].items() if "post" in verbs and path != "/v1/join"}
    assert set(posts) == {ask.path for ask in POSTS}
    for path, operation in posts.items():
        headers = [parameter["name"].lower() for parameter in operation["parameters"] if parameter["in"] == "header"]
        assert "idempotency-key" in headers, path
        assert {"400", "409", "422"} <= set(operation["responses"]), path
        answers = [response for status, response in operation["responses"].items() if status.startswith("2")]
        assert all("Idempotency-Replayed" in answer["headers"] for answer in answers), path


@EACH_POST
async def test_a_retry_is_answered_as_the_first_was_and_does_nothing(
    client: httpx.AsyncClient, stage: Stage, task: str, execution: str, ask: Ask
) -> None:
    first = await send_request(client, ask, task, execution)
    assert (first.status_code, first.headers.get("idempotency-replayed")) == (ask.status, None), first.text
    done = effects(stage)
    again = await send_request(client, ask, task, execution)
    assert (again.status_code, again.headers.get("idempotency-replayed")) == (ask.status, "true")
    assert (again.json(), again.headers.get("location")) == (forget_secrets(first), first.headers.get("location"))
    assert again.headers["content-type"] == first.headers["content-type"]
    assert effects(stage) == done


@dataclass
class Instance:
    """An instance of the API that is new for each run: nothing is stored before, and the caller is ann."""

    app: FastAPI
    client: httpx.AsyncClient
    stage: Stage = field(default_factory=Stage)
    place: tuple[str, str] = ("", "")

    async def start(self) -> None:
        self.stage = Stage()
        self.live(Life())
        created = await self.ask("/v1/tasks", TASK)
        started = await self.ask(f"/v1/tasks/{created.json()['task_id']}/executions", None)
        self.place = created.json()["task_id"], started.json()["execution_id"]

    def live(self, life: Life) -> None:
        """Go on as another process, with `life`."""
        self.app.state.deps = mortal(self.stage.deps(), life)

    async def ask(self, url: str, body: Any, **headers: str) -> httpx.Response:
        return await self.client.post(url, json=body, headers={**self.stage.owner("ann"), **headers})

    async def send(self, ask: Ask, headers: dict[str, str] = KEY) -> httpx.Response:
        return await self.ask(ask.url(*self.place), ask.body, **headers)

    @property
    def used_up(self) -> bool:
        """Whether the code of a consent was handed over: it is good once, and nobody can repeat that."""
        return self.stage.connector.requests != []


@pytest.fixture
async def instance() -> AsyncIterator[Instance]:
    app = create_app(Stage().deps())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://api.test") as client:
        yield Instance(app, client)


@EACH_POST
async def test_an_instance_that_dies_anywhere_leaves_what_a_retry_completes_once(instance: Instance, ask: Ask) -> None:
    await instance.start()
    assert (await instance.send(ask, headers={})).status_code == ask.status
    expected, deaths = effects(instance.stage), 0
    for after in (False, True):
        for at in range(1, STEPS_MAX):
            await instance.start()
            life = Life(at=at, after=after)
            instance.live(life)
            with suppress(DeathError):
                await instance.send(ask)
            if not life.dead:
                break
            deaths += 1
            instance.live(Life())
            instance.stage.clock.turn(idempotency.ATTEMPT)
            if not instance.used_up:
                answers = await instance.send(ask)
                assert (answers.status_code, effects(instance.stage)) == (ask.status, expected), (at, after, answers.text)
                again = await instance.send(ask)
                assert (again.json(), again.headers["idempotency-replayed"]) == (forget_secrets(answers), "true")
            assert effects(instance.stage) == expected, (at, after)
        else:
            pytest.fail(f"it takes {STEPS_MAX} calls of ports or more")
    assert deaths >= 8


async def undo(instance: Instance, ask: Ask) -> None:
    """Take back what the request has made, as its owner."""
    memory, (task, _) = instance.stage.memory, instance.place
    base = ask.path.partition("/tools")[0].format(task_id=task)
    new = [name for name in memory.tasks if name != task]
    created = [f"/v1/tasks/{new_task}" for new_task in new]
    created += [f"{base}/tools/cluster/{name}" for name in memory.clusters.get(task, {}) if name]
    created += [f"{base}/tools?id={tool.name}" for _, tools in memory.clusters.get(task, {}).values() for tool in tools]
    for url in created:
        await instance.client.delete(url, headers=instance.stage.owner("ann"))


UNDOABLE = [post for post in POSTS if "/tools" in post.path or post.path == "/v1/tasks"]


@pytest.mark.parametrize("ask", UNDOABLE, ids=[f"{post} {number}" for number, post in enumerate(UNDOABLE)])
async def test_what_was_done_as_an_instance_died_and_was_undone_since_is_not_done_again(instance: Instance, ask: Ask) -> None:
    await instance.start()
    await instance.send(ask, headers={})
    expected, undone = effects(instance.stage), 0
    for at in range(1, STEPS_MAX):
        await instance.start()
        life = Life(at=at, after=True)
        instance.live(life)
        with suppress(DeathError):
            await instance.send(ask)
        instance.live(Life())
        if effects(instance.stage) != expected:
            continue  # it was not done, or not all of it
        undone += 1
        await undo(instance, ask)
        before = effects(instance.stage)
        assert before != expected
        instance.stage.clock.turn(idempotency.ATTEMPT)
        again = await instance.send(ask)
        assert (again.status_code, again.headers.get("idempotency-replayed")) == (ask.status, "true"), at
        assert effects(instance.stage) == before, at
        if not life.dead:
            break
    assert undone >= 2


async def test_what_was_made_and_is_gone_since_is_not_made_again(client: httpx.AsyncClient, stage: Stage) -> None:
    first = await client.post("/v1/tasks", json=TASK, headers=KEY)
    await client.delete(f"/v1/tasks/{first.json()['task_id']}")
    assert (await client.post("/v1/tasks", json=TASK, headers=KEY)).json() == first.json()
    assert stage.memory.tasks == {}


async def test_a_start_is_answered_also_when_its_task_is_gone(client: httpx.AsyncClient, task: str) -> None:
    first = await client.post(f"/v1/tasks/{task}/executions", headers=KEY)
    await client.delete(f"/v1/tasks/{task}")
    assert (await client.post(f"/v1/tasks/{task}/executions", headers=KEY)).json() == first.json()


async def test_of_those_who_come_at_once_one_has_the_effect(client: httpx.AsyncClient, stage: Stage, task: str) -> None:
    for round_ in range(5):
        key = {"Idempotency-Key": f'"round {round_}"'}
        answers = await asyncio.gather(*(client.post(f"/v1/tasks/{task}/executions", headers=key) for _ in range(6)))
        assert {outcome.status_code for outcome in answers} <= {202, 409}
        assert len({outcome.json()["execution_id"] for outcome in answers if outcome.status_code == 202}) == 1
        assert len(stage.memory.executions) == round_ + 1


class BlockingTasks(MemoryTasks):
    """Tasks whose store takes as long as a test wants."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.memory)
        self.reached, self.free = asyncio.Event(), asyncio.Event()

    async def create(self, task: Task, *, done: Completion | None = None, **named: Any) -> None:
        self.reached.set()
        await self.free.wait()
        await super().create(task, done=done, **named)


async def test_while_the_first_is_under_way_a_retry_is_told_to_wait(client: httpx.AsyncClient, stage: Stage) -> None:
    store = BlockingTasks(stage)
    async with asking(stage, replace(stage.deps(), tasks=store)) as slow:
        first = asyncio.ensure_future(slow.post("/v1/tasks", json=TASK, headers=KEY))
        await store.reached.wait()
        busy = await client.post("/v1/tasks", json=TASK, headers=KEY)
        assert (busy.status_code, busy.headers["retry-after"]) == (409, "2")
        assert "under way" in busy.json()["detail"]
        store.free.set()
        assert (await first).status_code == 201
    again = await client.post("/v1/tasks", json=TASK, headers=KEY)
    assert (again.json(), len(stage.memory.tasks)) == ((await first).json(), 1)


@pytest.mark.parametrize("body", [TASK, {**TASK, "tools": ["api_call", TOOL]}], ids=["a task", "a task with its tools"])
async def test_an_attempt_that_was_given_up_and_comes_back_changes_nothing(
    client: httpx.AsyncClient, stage: Stage, body: dict[str, Any]
) -> None:
    store = BlockingTasks(stage)
    async with asking(stage, replace(stage.deps(), tasks=store)) as slow:
        first = asyncio.ensure_future(slow.post("/v1/tasks", json=body, headers=KEY))
        await store.reached.wait()
        stage.clock.turn(idempotency.ATTEMPT)
        second = await client.post("/v1/tasks", json=body, headers=KEY)
        assert (second.status_code, second.headers.get("idempotency-replayed")) == (201, None)
        store.free.set()
        answers = await first
    assert (answers.status_code, answers.json(), answers.headers["idempotency-replayed"]) == (201, second.json(), "true")
    assert list(stage.memory.tasks) == [second.json()["task_id"]]
    tools = stage.memory.clusters.get(second.json()["task_id"], {})
    assert bool(tools) == (body is not TASK)


async def test_a_key_identifies_one_request(client: httpx.AsyncClient, stage: Stage, task: str) -> None:
    await client.post("/v1/tasks", json=TASK, headers=KEY)
    for path, body in (("/v1/tasks", {**TASK, "name": "other"}), (f"/v1/tasks/{task}/executions", {})):
        other = await client.post(path, json=body, headers=KEY)
        assert (other.status_code, len(stage.memory.tasks), stage.memory.executions) == (422, 2, {})
        assert "was used for another request" in other.json()["detail"]


async def test_the_two_addresses_of_a_route_are_two_requests(client: httpx.AsyncClient, task: str) -> None:
    assert (await client.post(f"/v1/tasks/{task}/tools", json=TOOL, headers=KEY)).status_code == 201
    assert (await client.post(f"/api/agents/{task}/tools", json=TOOL, headers=KEY)).status_code == 422


async def test_a_key_is_one_owners(client: httpx.AsyncClient, stage: Stage) -> None:
    first = await client.post("/v1/tasks", json=TASK, headers=KEY)
    other = await client.post("/v1/tasks", json=TASK, headers={**KEY, **stage.owner("bob")})
    assert (other.status_code, other.headers.get("idempotency-replayed")) == (201, None)
    assert other.json()["task_id"] != first.json()["task_id"]


async def test_after_a_day_a_key_identifies_nothing(client: httpx.AsyncClient, stage: Stage) -> None:
    await client.post("/v1/tasks", json=TASK, headers=KEY)
    stage.clock.turn(idempotency.KEY_LIFETIME - timedelta(seconds=1))
    assert (await client.post("/v1/tasks", json=TASK, headers=KEY)).headers["idempotency-replayed"] == "true"
    stage.clock.turn(timedelta(seconds=1))
    assert "idempotency-replayed" not in (await client.post("/v1/tasks", json=TASK, headers=KEY)).headers
    assert len(stage.memory.tasks) == 2


async def test_what_was_refused_may_be_asked_for_again_at_once(client: httpx.AsyncClient, stage: Stage, task: str) -> None:
    await client.put("/v1/halt")
    assert (await client.post(f"/v1/tasks/{task}/executions", headers=KEY)).status_code == 409
    await client.delete("/v1/halt")
    stage.clock.turn(1)
    assert (await client.post(f"/v1/tasks/{task}/executions", headers=KEY)).status_code == 202


@pytest.mark.parametrize(
    "key",
    [
        "",
        '""',
        "bare",
        "'single'",
        '"open',
        'open"',
        '"a" "b"',
        '"a", "b"',
        '"a";q=1',
        '"ä"',
        '"a\tb"',
        '"a\\b"',
        f'"{"x" * 256}"',
    ],
    ids=repr,
)
async def test_a_key_that_is_no_string_is_refused(client: httpx.AsyncClient, stage: Stage, key: str) -> None:
    answer = await client.post("/v1/tasks", json=TASK, headers={"Idempotency-Key": key.encode()})  # type: ignore[dict-item]
    assert (answer.status_code, stage.memory.tasks, stage.memory.keyed) == (400, {}, {})
    assert answer.json()["detail"].startswith("Idempotency-Key must be a string in double quotes, of 1 to 255 printable")


async def test_two_keys_are_refused(client: httpx.AsyncClient, stage: Stage) -> None:
    twice = [*stage.owner("ann").items(), ("Idempotency-Key", '"a"'), ("Idempotency-Key", '"b"')]
    assert (await client.post("/v1/tasks", json=TASK, headers=twice)).status_code == 400
    assert stage.memory.tasks == {}


@pytest.mark.parametrize("key", ['"x"', f'"{"x" * 255}"', r'"a\"b\\c"', '"8e03978e-40d5-43dd-bc93-6894a57f9324"', ' "x" '])
async def test_a_string_is_a_key(client: httpx.AsyncClient, key: str) -> None:
    for replayed in (None, "true"):
        answer = await client.post("/v1/tasks", json=TASK, headers={"Idempotency-Key": key})
        assert (answer.status_code, answer.headers.get("idempotency-replayed")) == (201, replayed)


async def test_without_a_key_each_request_is_a_new_one_and_nothing_is_kept(client: httpx.AsyncClient, stage: Stage) -> None:
    for _ in range(2):
        assert (await client.post("/v1/tasks", json=TASK)).status_code == 201
    assert (len(stage.memory.tasks), stage.memory.keyed) == (2, {})


async def test_what_is_kept_tells_nothing_of_the_request_or_its_answer(
    client: httpx.AsyncClient, stage: Stage, task: str
) -> None:
    body = {**CONNECTION, "client_secret": SECRET}
    answer = await client.post(f"/v1/tasks/{task}/credentials/connect", json=body, headers=KEY)
    (keyed,) = stage.memory.keyed.values()
    text = repr(keyed).encode() + (keyed.answer or b"")
    for secret in (SECRET, answer.json()["state"], "calendar", KEY["Idempotency-Key"].strip('"')):
        assert secret.encode() not in text


async def test_the_same_request_of_another_key_cannot_be_told_from_what_is_kept(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    # anyone who has the store alone cannot try out what was asked: the digest takes the API key, which is not stored
    for owner in ("ann", "bob"):
        await client.post("/v1/tasks", json=TASK, headers={**KEY, **stage.owner(owner)})
    assert len({request.fingerprint for request in stage.memory.keyed.values()}) == 2


async def test_an_answer_that_is_too_large_to_be_kept_is_kept_without_its_list(
    client: httpx.AsyncClient, stage: Stage, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "ANSWER_BYTES_MAX", 300)
    (ask,) = [post for post in POSTS if post.path == "/v1/tasks/{task_id}/tools/import-openapi"]
    first, again = [(await send_request(client, ask, task, "")) for _ in range(2)]
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == {**first.json(), "data": [], "notes": []}
    assert (first.json()["data"] != [], first.json()["imported"]) == (True, 1)
