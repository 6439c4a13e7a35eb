"""Permissions: the port is who calls, and every call of every service through every port goes as the matrix says."""

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport
from google.cloud.secretmanager_v1 import AccessSecretVersionRequest
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import SecretManagerServiceGrpcTransport
from google.cloud.tasks_v2 import CreateQueueRequest, CreateTaskRequest, PauseQueueRequest
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcTransport

from emulator.channels import open_aio_channel
from emulator.cloud import CloudPlan, EmulatedCloud
from emulator.matrix import build_matrix, main
from emulator.permissions import FIRESTORE, READING, SECRETS, TASKS
from emulator.table import NOTHING, read_table

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "infra/functions.json"
ROWS = read_table(TABLE)
OURS = {"grpc_channel", "kind", "operations_client"}
SECRET, RECEIPTS, QUEUES = "ferryman-sealing-key", "ferryman-receipt-key", ("executions", "schedules")
KEY = f"projects/a-project/secrets/{SECRET}/versions/1"
EXECUTIONS, SCHEDULES = (f"projects/a-project/locations/here/queues/{name}" for name in QUEUES)
DENIED = grpc.StatusCode.PERMISSION_DENIED


def calls(service: str, transport: Any) -> Iterator[str]:
    """List every call that the client knows of a service, even what is not served here."""
    for name, member in vars(transport).items():
        if isinstance(member, property) and name not in OURS:
            yield f"/{service}/{name.title().replace('_', '')}"


CALLS = [
    *calls(FIRESTORE, FirestoreGrpcTransport),
    *calls(SECRETS, SecretManagerServiceGrpcTransport),
    *calls(TASKS, CloudTasksGrpcTransport),
]
PLACES = [
    (f"/{SECRETS}/AccessSecretVersion", AccessSecretVersionRequest(name=KEY)),
    (f"/{SECRETS}/AccessSecretVersion", AccessSecretVersionRequest(name=KEY.replace(SECRET, "another"))),
    (f"/{SECRETS}/AccessSecretVersion", AccessSecretVersionRequest(name=KEY.replace("a-project", "another"))),
    (f"/{SECRETS}/AccessSecretVersion", AccessSecretVersionRequest(name=KEY.replace("/secrets", "/locations/here/secrets"))),
    (f"/{SECRETS}/AccessSecretVersion", AccessSecretVersionRequest(name=KEY.replace(SECRET, RECEIPTS))),
    (f"/{TASKS}/CreateTask", CreateTaskRequest(parent=EXECUTIONS)),
    (f"/{TASKS}/CreateTask", CreateTaskRequest(parent=SCHEDULES)),
    (f"/{TASKS}/CreateTask", CreateTaskRequest(parent=EXECUTIONS.replace("executions", "another"))),
    (f"/{TASKS}/CreateTask", CreateTaskRequest(parent=EXECUTIONS.replace("a-project", "another"))),
]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> CloudPlan:
    folder = tmp_path_factory.mktemp("cloud")
    return CloudPlan(folder=folder, durable=False, project="a-project", table=TABLE, source=ROOT / "functions")


@pytest.fixture
async def cloud(plan: CloudPlan) -> AsyncIterator[EmulatedCloud]:
    async with EmulatedCloud(plan) as running:
        yield running


def port_of(cloud: EmulatedCloud, name: str | None) -> int:
    ports: Any = cloud.status()["ports"]
    return int(ports["callers"][name] if name else ports["grpc"])


def connected(cloud: EmulatedCloud, name: str | None) -> grpc.aio.Channel:
    """Open a channel to the port of a function, or to the operator's, with the token that it asks for."""
    token = cloud.token if name is None else cloud._callers.token(name)
    return open_aio_channel(f"127.0.0.1:{port_of(cloud, name)}", token.value)


async def code(channel: grpc.aio.Channel, method: str, request: bytes = b"") -> grpc.StatusCode:
    """Return how a call ends; on the wire every one is a stream. The request goes out whole and at once: the refusal of a call
    comes before it is read, and a client that is still feeding one in would take that for its own fault."""
    call = channel.unary_stream(method)(request, timeout=30)
    try:
        async for _ in call:
            break
    except grpc.aio.AioRpcError as error:
        return error.code()
    finally:
        call.cancel()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("name", ROWS)
async def test_a_function_may_do_what_the_matrix_says_and_nothing_else(cloud: EmulatedCloud, name: str) -> None:
    line = dict(zip(*(build_matrix(ROWS)[n] for n in (0, 1 + list(ROWS).index(name))), strict=True))
    known = {call for call in CALLS if call.startswith(f"/{FIRESTORE}/")}
    allowed = {"all": known, "read": known & READING, NOTHING: set()}[line["firestore"]]
    async with connected(cloud, name) as channel:
        answered = {call for call in CALLS if await code(channel, call) is not DENIED}
        assert answered == allowed
        reached = [
            request
            for call, request in PLACES
            if await code(channel, call, bytes(type(request).serialize(request))) is not DENIED
        ]
    secret = [PLACES[0][1]] if line[f"secret {SECRET}"] == "access" else []
    secret += [PLACES[4][1]] if line[f"secret {RECEIPTS}"] == "access" else []
    queues = [PLACES[5 + n][1] for n, name in enumerate(QUEUES) if line[f"queue {name}"] == "create tasks"]
    assert reached == secret + queues


def delivered_as(account: str) -> bytes:
    request = {"url": "http://127.0.0.1:9/", "oidc_token": {"service_account_email": account}}
    create = CreateTaskRequest(parent=EXECUTIONS, task={"http_request": request})
    return bytes(CreateTaskRequest.serialize(create))


async def test_a_task_names_only_an_account_its_creator_may_act_as(cloud: EmulatedCloud) -> None:
    project = EXECUTIONS.split("/")[1]
    async with connected(cloud, None) as channel:
        queue = CreateQueueRequest(parent=EXECUTIONS.partition("/queues")[0], queue={"name": EXECUTIONS})
        assert await code(channel, f"/{TASKS}/CreateQueue", CreateQueueRequest.serialize(queue)) is grpc.StatusCode.OK
        pause = PauseQueueRequest.serialize(PauseQueueRequest(name=EXECUTIONS))
        assert await code(channel, f"/{TASKS}/PauseQueue", pause) is grpc.StatusCode.OK
    async with connected(cloud, "api") as channel:
        queue_caller = delivered_as(f"ferryman-queue@{project}.iam.gserviceaccount.com")
        assert await code(channel, f"/{TASKS}/CreateTask", queue_caller) is grpc.StatusCode.OK
        for account in ("ferryman-orchestrator", "anyone"):
            other = delivered_as(f"{account}@{project}.iam.gserviceaccount.com")
            assert await code(channel, f"/{TASKS}/CreateTask", other) is DENIED


async def test_the_operator_may_do_everything(cloud: EmulatedCloud) -> None:
    async with connected(cloud, None) as channel:
        for call in CALLS:
            assert await code(channel, call) is not DENIED
        for call, request in PLACES:
            assert await code(channel, call, bytes(type(request).serialize(request))) is not DENIED


async def test_without_permissions_every_caller_is_an_operator(plan: CloudPlan) -> None:
    async with EmulatedCloud(replace(plan, permissions=False)) as cloud:
        for name in ROWS:
            async with connected(cloud, name) as channel:
                assert await code(channel, f"/{SECRETS}/CreateSecret") is grpc.StatusCode.INVALID_ARGUMENT


async def test_every_caller_has_a_port_of_his_own(cloud: EmulatedCloud) -> None:
    assert len({port_of(cloud, name) for name in (None, *ROWS)}) == 1 + len(ROWS)


async def test_all_ports_share_one_state(cloud: EmulatedCloud) -> None:
    create, read = f"/{FIRESTORE}/CreateDocument", f"/{FIRESTORE}/GetDocument"
    from google.cloud.firestore_v1.types import CreateDocumentRequest, GetDocumentRequest

    root = "projects/a-project/databases/(default)/documents"
    new = CreateDocumentRequest(parent=root, collection_id="tasks", document_id="x", document={})
    async with connected(cloud, "api") as channel:
        assert await code(channel, create, CreateDocumentRequest.serialize(new)) is grpc.StatusCode.OK
    request = GetDocumentRequest.serialize(GetDocumentRequest(name=f"{root}/tasks/x"))
    for name in ("orchestrator", None):
        async with connected(cloud, name) as channel:
            assert await code(channel, read, request) is grpc.StatusCode.OK


def test_the_matrix_is_printed_as_a_table() -> None:
    printed = CliRunner().invoke(main, []).output.splitlines()
    columns = [
        "secret ferryman-api-key",
        "secret ferryman-platform-key",
        f"secret {RECEIPTS}",
        f"secret {SECRET}",
        *(f"queue {name}" for name in QUEUES),
        "bucket ferryman-files",
    ]
    assert re.split(r" {2,}", printed[0]) == ["function", "firestore", *columns]
    assert [re.split(r" {2,}", line) for line in printed] == build_matrix(ROWS)


def test_a_row_that_says_nothing_grants_nothing(table: Path) -> None:
    assert all(line[1:] == ["-"] for line in build_matrix(read_table(table))[1:])
