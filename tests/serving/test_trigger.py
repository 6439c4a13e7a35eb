"""The trigger function: who may send an event, and what becomes of one."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx
import pytest
from functions_framework import aio

from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.queue import MemoryQueue
from ferryman.ports.errors import UnavailableError
from ferryman.serving import trigger

CALLER = "ferryman-trigger@p.iam.gserviceaccount.com"
EVENT = {
    "ce-id": "1",
    "ce-source": "//firestore.googleapis.com/projects/p/databases/(default)",
    "ce-type": "google.cloud.firestore.document.v1.created",
    "ce-specversion": "1.0",
    "ce-document": "executions/exec_1",
    "content-type": "application/protobuf",
}


@dataclass
class TriggerDouble:
    """A trigger whose caller is anyone the header names, and whose queue is in memory."""

    queue: MemoryQueue = field(default_factory=MemoryQueue)
    tracer: RecordingLog = field(default_factory=RecordingLog)

    @property
    def callers(self) -> TriggerDouble:
        return self

    async def identify(self, authorization: str | None, *, audience: str) -> str:
        if authorization is None:
            raise PermissionError("no identity token")
        if authorization == "later":
            raise UnavailableError("no certificates")
        return authorization


@pytest.fixture
def deps(monkeypatch) -> TriggerDouble:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    return TriggerDouble()


async def post(deps: TriggerDouble, authorization: str | None = CALLER, **changes: str | None) -> httpx.Response:
    app = aio._create_asgi_app_with_function(trigger.serve(lambda _: deps), "http", False)
    headers = {name: value for name, value in {**EVENT, **changes, "authorization": authorization}.items() if value is not None}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test") as client:
        return await client.post("/", content=b"\x0a\x00", headers=headers)


async def test_a_created_execution_is_enqueued(deps):
    assert (await post(deps)).json() == {"enqueued": "exec_1"}
    assert [(delivery.execution, delivery.slice) for delivery in deps.queue.waiting] == [("exec_1", 0)]


async def test_an_event_delivered_twice_enqueues_once(deps):
    await post(deps)
    await post(deps)
    assert len(deps.queue.waiting) == 1


async def test_a_document_of_any_name_is_brought_to_where_it_is_answered(deps):
    assert (await post(deps, **{"ce-document": "executions/caf%C3%A9%20%25"})).json() == {"enqueued": "café %"}


@pytest.mark.parametrize(
    ("authorization", "status"), [(None, 401), ("someone@else.test", 403), ("later", 503)], ids=["none", "other", "later"]
)
async def test_a_caller_that_is_not_allowed_enqueues_nothing(deps, authorization, status):
    answer = await post(deps, authorization)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert deps.queue.waiting == ()


@pytest.mark.parametrize(
    "change",
    [{"ce-document": "tasks/t"}, {"ce-document": "executions/e/steps/1"}, {"ce-document": "executions/../x"}, {"ce-id": None}],
    ids=["a task", "a step", "a climb", "no event at all"],
)
async def test_an_event_of_anything_else_is_acknowledged_and_logged(deps, change):
    answer = await post(deps, **change)
    assert (answer.status_code, deps.queue.waiting) == (200, ())
    assert deps.tracer.lines[-1][0] == "event.unreadable"


async def test_a_queue_that_does_not_answer_has_the_event_delivered_again(deps):
    async def fail_enqueue(*args, **named):
        raise UnavailableError("Cloud Tasks did not answer")

    deps.queue.enqueue = fail_enqueue
    assert (await post(deps)).status_code == 503


async def test_a_fault_is_a_problem_without_a_word_of_it(deps, capsys):
    async def broken(*args, **named):
        raise RuntimeError("hush")

    deps.queue.enqueue = broken
    answer = await post(deps)
    assert (answer.status_code, "hush" in answer.text + capsys.readouterr().out) == (500, False)
