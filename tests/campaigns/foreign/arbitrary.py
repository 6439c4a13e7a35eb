"""Arbitrary documents: any fields of any type that Firestore stores, our own names and forms among them, and what one did."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import Client, GeoPoint
from hypothesis import strategies as st

from ferryman.billing.prices import Prices
from ferryman.domain.executions.execution import OWNER, Execution, Status
from ferryman.domain.executions.request import REQUEST_FIELDS
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PLANS
from ferryman.domain.stored import get_stored_name
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.gcp.execution_documents import ADMITTED, write_execution
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.queue import MemoryQueue
from ferryman.inmemory.usage import MemoryUsageQueue
from ferryman.loop.admission import admit_request
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.errors import NotAdmittedError
from tests.builders import START, build_execution, build_lease, build_task
from tests.contracts.conftest import Stores, on_google_cloud
from tests.contracts.values import ENTRY, OPENING, POLICY

NAME = "order-42"
LEASE = timedelta(minutes=2)
ANONYMOUS: Any = AnonymousCredentials
ELSEWHERE = Client(project="another", credentials=ANONYMOUS()).document("a/b")
STORED = ("owners", "contexts", "tasks", "credentials", "executions", "jobs", "halts")
NAMES = [*(get_stored_name(item) for item in fields(Execution)), ADMITTED, "expire_at"]

moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
words = st.sampled_from(["t", "o", "victim", NAME, "queued", "running", "completed", "failed", "-500", "1e999", "{}", "[1]"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    texts,
    words,
    st.binary(max_size=20),
    moments,
    st.just(GeoPoint(1.0, 2.0)),
    st.just(ELSEWHERE),
)
made_up = st.text("abcdefgh._-`ä", min_size=1, max_size=8).filter(lambda name: not re.fullmatch("__.*__", name))
"""Names of fields; Firestore refuses those between two pairs of underscores."""

keys = st.one_of(st.sampled_from(NAMES), made_up)
maps = st.dictionaries(keys, scalars, max_size=4)
values = st.one_of(scalars, st.lists(st.one_of(scalars, maps), max_size=3), maps, st.dictionaries(keys, maps, max_size=2))

EXECUTION = build_execution(
    id=NAME, status=Status.RUNNING, lease=build_lease(holder="thief"), policy=POLICY, slice=3, iterations=2, events=9
)
forms = st.sampled_from([{}, {"task": "t"}, {"task": "t", "owner": "o"}, write_execution(EXECUTION)])
documents = st.builds(lambda form, more: {**form, **more}, forms, st.dictionaries(keys, values, max_size=8))
"""Arbitrary fields, over nothing, over a sound request, or over the whole document of an execution that runs."""


@dataclass(kw_only=True)
class Deployment:
    """An owner with credits reserved for an execution under way, and the loop that documents are delivered to."""

    stores: Stores
    clients: Any
    before: Mapping[str, Any] = field(default_factory=dict)
    """Every document as it has to stay."""

    async def prepare(self) -> None:
        stores = self.stores
        await stores.owners.put(Owner(id="o", plan="pro", created_at=START))
        await stores.tasks.create(build_task())
        await stores.executions.start(build_execution(id="victim"), most=9)
        claimed, _ = await stores.executions.claim("victim", slice=0, holder="h", now=START, lease=LEASE)
        opened = replace(claimed, policy=replace(POLICY, owner="o", task="t"), events=1)
        await stores.executions.open(opened, OPENING, entry=replace(ENTRY, execution="victim", id="victim.start"), now=START)
        self.before = await self.read_everything()

    def loop(self) -> LoopDependencies:
        unused: Any = None
        stores = self.stores
        return LoopDependencies(
            **{
                name: getattr(stores, name)
                for name in ("owners", "contexts", "tasks", "credentials", "executions", "approvals", "jobs", "halts")
            },
            **dict.fromkeys(("model", "scanner", "registry", "signing", "seal", "decisions"), unused),
            clusters=MemoryClusters(Memory()),
            conversations=MemoryConversations(Memory()),
            queue=MemoryQueue(),
            alerts=MemoryAlertQueue(),
            metering=MemoryUsageQueue(),
            clock=ManualClock(),
            tracer=RecordingLog(),
            price=Prices().find,
            plans=PLANS,
            integrations={},
            lease=LEASE,
            slice=LEASE,
            execution_timeout=LEASE,
        )

    async def read_everything(self) -> dict[str, Mapping[str, Any]]:
        """Return every document, but for the one that an application wrote, which Google's client cannot always read."""
        return {path: stored async for path, stored in self._read_below(self.clients.firestore())}

    async def _read_below(self, parent: Any) -> AsyncIterator[tuple[str, Mapping[str, Any]]]:
        async for collection in parent.collections():
            async for reference in collection.list_documents():
                if reference.path != f"executions/{NAME}":
                    yield reference.path, (await reference.get()).to_dict() or {}
                async for inner in self._read_below(reference):
                    yield inner

    async def find_change(self, document: Mapping[str, Any]) -> str | None:
        """Deliver `document`, and return what it did that it may not; None where all is well."""
        stores, before = self.stores, self.before
        await stores.ask(NAME, document)
        await stores.executions.get(NAME)
        listed = {execution.id for execution in (await stores.executions.list(derive_default_workspace("o"))).items} - {NAME}
        await stores.executions.cancel("elsewhere", by=OWNER, now=START)
        try:
            await stores.executions.claim(NAME, slice=0, holder="h", now=START, lease=LEASE)
            return "it was claimed without being admitted"
        except NotAdmittedError:
            is_admitted = await admit_request(self.loop(), NAME)
        started, after = await stores.executions.get(NAME), await self.read_everything()
        queued = after["occupancy/o"]["queued"].pop(NAME, None)
        if before != after:
            return f"it changed {sorted(path for path in {**before, **after} if before.get(path) != after.get(path))}"
        if listed != {"victim"}:
            return f"others are listed as {listed}"
        if is_admitted != (started is not None) or is_admitted != (queued is not None):
            return "it is half admitted"
        if started is not None and started != build_execution(
            id=NAME, input=started.input, labels=started.labels, trace=started.trace
        ):
            return f"it was believed: {started}"
        if is_admitted and document.get("task") != "t":
            return "another task was started"
        return None

    async def clear(self) -> None:
        """Remove the document, and its place in the queue."""
        await self.stores.executions.cancel(NAME, by=OWNER, now=START)
        await self.clients.firestore().document("executions", NAME).delete()


@asynccontextmanager
async def deploy() -> AsyncIterator[Deployment]:
    """Yield a deployment on the local Firestore."""
    async with on_google_cloud() as stores:
        executions: Any = stores.executions
        deployment = Deployment(stores=stores, clients=executions._clients)
        await deployment.prepare()
        yield deployment


def is_sound(document: Mapping[str, Any]) -> bool:
    """Tell whether `document` is a request that has to be admitted."""
    return document.get("task") == "t" and all(document.get(name) is None for name in REQUEST_FIELDS[1:])
