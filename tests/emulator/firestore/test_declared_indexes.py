"""The declared indexes: those that Ferryman's own queries need, none missing and none more."""

import ast
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ferryman.domain.call import Ticket
from ferryman.domain.connection import Connection
from ferryman.domain.credential import AuthType, Label
from ferryman.domain.execution import Execution, Lease, Status
from ferryman.domain.firing import Fire
from ferryman.domain.owner import Owner
from ferryman.domain.task import Task
from ferryman.gcp import documents, places
from ferryman.gcp.clients import Clients
from ferryman.gcp.clusters import FirestoreClusters
from ferryman.gcp.connections import FirestoreConnections
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.holdings import FirestoreHoldings
from ferryman.gcp.ledger import FirestoreLedger
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.schedules import FirestoreSchedules
from ferryman.gcp.tasks import FirestoreCredentials, FirestoreTasks
from ferryman.gcp.tokens import FirestoreTokens
from ferryman.settings import Settings

from .conftest import Clock, serving

ROOT = Path(__file__).parents[3]
INDEXES = ROOT / "infra/firestore.indexes.json"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def listed(clients: Clients) -> None:
    await FirestoreExecutions(clients).list("ann")


async def listed_by_task(clients: Clients) -> None:
    await FirestoreExecutions(clients).list("ann", task="t")


async def claimed_again(clients: Clients) -> None:
    lost = Lease(holder="dead", epoch=1, expires_at=NOW)
    execution = Execution(id="e", task="t", owner="ann", created_at=NOW, status=Status.RUNNING, lease=lost)
    await FirestoreExecutions(clients).create(execution)
    ticket = Ticket(seq=0, step=1, call="x", tool="webhook", arguments=b"", shown={}, epoch=1, created_at=NOW)
    await places.call(clients.firestore(), "e", 0).set(documents.write(ticket))
    _, taken = await FirestoreExecutions(clients).claim(
        "e", slice=0, holder="b", now=NOW + timedelta(seconds=1), lease=timedelta(seconds=9)
    )
    assert taken


async def clusters_listed(clients: Clients) -> None:
    await FirestoreClusters(clients).list("t")


async def cluster_stored(clients: Clients) -> None:
    clustered = Task(id="task_own", owner="ann", name="n", task_prompt="p", model="m", created_at=NOW, updated_at=NOW)
    await FirestoreTasks(clients).create(clustered)
    await FirestoreClusters(clients).put(clustered.id, "pets", [], since=0)


async def connection_begun(clients: Clients) -> None:
    asked = Task(id="task_asked", owner="ann", name="n", task_prompt="p", model="m", created_at=NOW, updated_at=NOW)
    await FirestoreTasks(clients).create(asked)
    begun = Connection(
        digest="d",
        label=Label(owner="ann", task=asked.id, name="K", version=1, service="s", auth_type=AuthType.BEARER, hosts=("a.test",)),
        redirect_uri="http://127.0.0.1/",
        token_url="https://login.example.com/token",
        client_id="c",
        creds_location="body",
        scopes=(),
        expires_at=NOW,
    )
    await FirestoreConnections(clients).put(begun, now=NOW, most=9)


async def tokens_of_a_task(clients: Clients) -> None:
    await FirestoreTokens(clients).list("ann", "t")


async def entries_of_an_execution(clients: Clients) -> None:
    await FirestoreLedger(clients).of_execution("e")


async def entries_of_an_owner(clients: Clients) -> None:
    await FirestoreLedger(clients).of_owner("ann", since=NOW, until=NOW)


async def sealed_anywhere(clients: Clients) -> None:
    await FirestoreHoldings(clients, len).credentials()


async def calls_under_way(clients: Clients) -> None:
    await FirestoreHoldings(clients, len).calls()


async def begun(clients: Clients) -> None:
    await FirestoreHoldings(clients, len).begun_before(NOW)


async def stepped(clients: Clients) -> None:
    await FirestoreExecutions(clients).steps("e")


async def ticketed(clients: Clients) -> None:
    await FirestoreExecutions(clients).tickets("e")


async def receipted(clients: Clients) -> None:
    await FirestoreExecutions(clients).receipts("e")


async def tasks_listed(clients: Clients) -> None:
    await FirestoreTasks(clients).list("ann")


async def tasks_counted(clients: Clients) -> None:
    await FirestoreTasks(clients).count("ann")


async def credentials_listed(clients: Clients) -> None:
    await FirestoreCredentials(clients).list("t")


async def owners_listed(clients: Clients) -> None:
    await FirestoreOwners(clients).list()


async def rekeyed(clients: Clients) -> None:
    await FirestoreOwners(clients).put(Owner(id="ann", plan="pro", created_at=NOW))
    await FirestoreOwners(clients).rekey("ann", "d", NOW)


async def fired(clients: Clients) -> None:
    due = {"schedule_generation": 1, "next_fire_at": NOW}
    task = Task(id="task_due", owner="ann", name="n", task_prompt="p", model="m", created_at=NOW, updated_at=NOW, **due)
    await FirestoreTasks(clients).create(task)
    made = await FirestoreSchedules(clients).fire(Fire(task=task.id, generation=1, at=NOW), now=NOW)
    assert made.execution is not None


async def overdue(clients: Clients) -> None:
    await FirestoreSchedules(clients).overdue(before=NOW)


async def schedules_counted(clients: Clients) -> None:
    await FirestoreSchedules(clients).count("ann")


async def armed(clients: Clients) -> None:
    await FirestoreSchedules(clients).armed()


QUERIES: dict[str, tuple[Callable[[Clients], Awaitable[None]], ...]] = {
    "FirestoreClusters._all": (clusters_listed,),
    "FirestoreClusters.put": (cluster_stored,),
    "FirestoreConnections.put": (connection_begun,),
    "FirestoreExecutions.list": (listed, listed_by_task),
    "FirestoreExecutions.claim": (claimed_again,),
    "FirestoreExecutions.steps": (stepped,),
    "FirestoreExecutions.tickets": (ticketed,),
    "FirestoreExecutions.receipts": (receipted,),
    "FirestoreHoldings.credentials": (sealed_anywhere,),
    "FirestoreHoldings.calls": (calls_under_way,),
    "FirestoreHoldings._under_way": (begun,),
    "FirestoreLedger.of_execution": (entries_of_an_execution,),
    "FirestoreLedger.of_owner": (entries_of_an_owner,),
    "FirestoreOwners.list": (owners_listed,),
    "FirestoreOwners.rekey": (rekeyed,),
    "FirestoreSchedules.armed": (armed,),
    "FirestoreSchedules.count": (schedules_counted,),
    "FirestoreSchedules.fire": (fired,),
    "FirestoreSchedules.overdue": (overdue,),
    "FirestoreTokens.list": (tokens_of_a_task,),
    "FirestoreTasks.list": (tasks_listed,),
    "FirestoreTasks.count": (tasks_counted,),
    "FirestoreCredentials.list": (credentials_listed,),
}


def querying() -> set[str]:
    """Every method of Ferryman's that runs a query, as class and method."""
    found = set()
    for path in sorted((ROOT / "lib/ferryman/gcp").glob("*.py")):
        for owner in (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)):
            for method in (node for node in owner.body if isinstance(node, ast.AsyncFunctionDef)):
                names = {node.attr for node in ast.walk(method) if isinstance(node, ast.Attribute)}
                if names & {"stream", "where", "order_by", "collection_group", "count", "sum", "avg", "find_nearest"}:
                    found.add(f"{owner.name}.{method.name}")
    return found


def test_every_query_of_the_library_is_run_below() -> None:
    assert querying() == set(QUERIES)


async def test_each_query_finds_its_index_and_each_index_has_its_query() -> None:
    async with serving(clock=Clock(), indexes=INDEXES) as served:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("FIRESTORE_EMULATOR_HOST", served.address)
            clients = Clients(Settings(project="p", firestore_host=served.address))
            clients.firestore()
        for runs in QUERIES.values():
            for run in runs:
                await run(clients)
        indexes = served.firestore.indexes
        await clients.firestore()._firestore_api.transport.close()
        assert indexes is not None
        assert indexes.used == indexes.declared
