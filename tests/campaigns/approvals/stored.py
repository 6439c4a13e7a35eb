"""The same calls on Firestore's protocol: what a rig has in memory is written into documents by hand before each call, and read
back after it. Firestore is a process of its own; its documents are read and written by the product's own stores.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ferryman.domain.approvals.standing import StandingApproval
from ferryman.domain.calls.call import Ticket
from ferryman.gcp import documents
from ferryman.gcp.approvals import FirestoreApprovals, read_approval
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.execution_documents import write_execution
from ferryman.gcp.places import Places
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.inmemory.memory import Memory
from ferryman.settings import Settings

INDEXES = Path(__file__).parents[3] / "infra/firestore.indexes.json"


@dataclass(kw_only=True)
class StoredState:
    """A Firestore at `address`, and the project of one rig in it."""

    address: str
    project: str
    clients: GoogleClients = field(init=False)

    def __post_init__(self) -> None:
        self.clients = GoogleClients(Settings(project=self.project, firestore_host=self.address))

    @property
    def ports(self) -> dict[str, Any]:
        """The stores that a key holder has, on documents."""
        return {"tickets": FirestoreTickets(self.clients), "credentials": FirestoreCredentials(self.clients)}

    @property
    def approvals(self) -> FirestoreApprovals:
        return FirestoreApprovals(self.clients)

    async def write(self, memory: Memory) -> None:
        """Write all that is in memory, in the place of what is stored."""
        client = self.clients.firestore()
        places = Places(client)
        batch = client.batch()
        for execution in memory.executions.values():
            reference = places.locate_execution(execution.id)
            batch.set(reference, {**write_execution(execution), "slice": execution.slice + 1})
            for seq, ticket in memory.tickets.get(execution.id, {}).items():
                batch.set(places.locate_call(execution.id, seq), documents.write(ticket))
        for task in memory.tasks.values():
            versions = {"credential_versions": dict(memory.versions.get(task.id, {}))}
            batch.set(places.locate_task(task.id), {**documents.write(task), **versions})
            for name, sealed in memory.credentials.get(task.id, {}).items():
                batch.set(places.locate_credential(task.id, name), documents.write(sealed))
        for approval in memory.approvals.values():
            batch.set(places.locate_approval(approval.id), documents.write(approval))
        for standing in memory.standing_approvals.values():
            batch.set(places.locate_standing_approval(standing.id), documents.write(standing))
        await batch.commit()
        for execution in memory.executions.values():  # one that was only created asks for a run
            await places.locate_execution(execution.id).update({"slice": execution.slice})

    async def read(self, memory: Memory) -> None:
        """Read back what calls, approvals and approvals from beforehand are."""
        client = self.clients.firestore()
        for execution, tickets in memory.tickets.items():
            async for snapshot in client.document("executions", execution).collection("calls").stream():
                ticket = documents.read_or_none(Ticket, snapshot)
                assert ticket is not None, "it was written by the store"
                tickets[ticket.seq] = ticket
        async for snapshot in client.collection("approvals").stream():
            approval = read_approval(snapshot)
            if approval is not None:
                memory.approvals[approval.id] = approval
        async for snapshot in client.collection("standing_approvals").stream():
            standing = documents.read_or_none(StandingApproval, snapshot)
            if standing is not None:
                memory.standing_approvals[standing.id] = standing


@dataclass(kw_only=True)
class StoredRigs:
    """Gives each rig a project of its own, and closes the clients of those before."""

    address: str
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _open: list[StoredState] = field(default_factory=list)

    def build(self) -> StoredState:
        state = StoredState(address=self.address, project=f"rig-{next(self._numbers)}")
        self._open.append(state)
        return state

    async def close(self) -> None:
        for state in self._open:
            await state.clients.close()
        self._open.clear()


STORED: ContextVar[StoredRigs | None] = ContextVar("STORED", default=None)
"""What the rigs of this context are stored in; None for memory."""


async def close_stored() -> None:
    """Close the clients of the rigs that are done with."""
    if (rigs := STORED.get()) is not None:
        await rigs.close()


@asynccontextmanager
async def on_firestore() -> AsyncIterator[StoredRigs]:
    """Have every rig in this context stored in a Firestore that runs in a process of its own."""
    with _firestore() as address:
        rigs = StoredRigs(address=address)
        token = STORED.set(rigs)
        try:
            yield rigs
        finally:
            STORED.reset(token)
            await rigs.close()


@contextmanager
def _firestore() -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _serve(connection: Any) -> None:
    asyncio.run(_run(connection))


async def _run(connection: Any) -> None:
    import grpc

    from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator

    firestore = FirestoreEmulator(path=None, indexes=INDEXES)
    server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    connection.send(address)
    await server.wait_for_termination()
