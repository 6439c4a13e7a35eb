"""Durability: a death at any line between a commit and the keeping of its event costs no event."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from google.api_core.exceptions import GoogleAPICallError
from google.cloud.firestore import AsyncClient
from google.cloud.firestore_v1.types import Document, Write

from emulator.clock import EmulatorClock
from emulator.firestore import FirestoreEmulator
from emulator.identity import IdentityTokens
from emulator.triggers import Triggers
from emulator.triggers.interest import find_missed
from tests.emulator.triggers.conftest import ROOT, START, Changed, created
from tests.emulator.triggers.test_delivery import CALLER, CREATED

DATABASE = "projects/test/databases/(default)"

# Commits of three documents each, one after the other; a process kills itself at a turn of the listener, before or after the
# change was observed. The command line tells folders, sides and turns: a process for each is forked from one that has imported
# everything, and how it ended is printed.
DYING = """
import asyncio, os, pathlib, signal, sys
from emulator.clock import EmulatorClock
from emulator.firestore import FirestoreEmulator
from emulator.identity import IdentityTokens
from emulator.triggers import Triggers
from google.cloud.firestore_v1 import types

async def main(path, when, turn):
    clock = EmulatorClock()
    firestore = FirestoreEmulator(path=path / "firestore.sqlite", clock=clock.now)
    triggers = Triggers(path=path, clock=clock, tokens=IdentityTokens(path=None, clock=clock))
    turns = 0

    def observe(change):
        nonlocal turns
        turns += 1
        if turns == turn and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        triggers.observe(change)
        if turns == turn and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    await firestore.start()
    firestore.watch(observe)
    where = {"url": "http://127.0.0.1:9", "caller": "c"}
    triggers.add("t", event="google.cloud.firestore.document.v1.created", document="executions/{execution}", **where)
    root = "projects/test/databases/(default)"
    for n in range(4):
        names = [f"{root}/documents/executions/{n}-{place}" for place in range(3)]
        writes = [types.Write(update=types.Document(name=name))._pb for name in names]
        firestore._store.commit(root, writes)

for path, when, turn in zip(sys.argv[1::3], sys.argv[2::3], sys.argv[3::3]):
    child = os.fork()
    if not child:
        asyncio.run(main(pathlib.Path(path), when, int(turn)))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
DEATHS = [(when, turn) for when in ("before", "after") for turn in (1, 2, 3, 4, 12)]
SERVING = """
import asyncio, pathlib, sys
import grpc
from emulator.clock import EmulatorClock
from emulator.firestore import FirestoreEmulator
from emulator.identity import IdentityTokens
from emulator.triggers import Triggers

async def main():
    path, clock = pathlib.Path(sys.argv[1]), EmulatorClock()
    firestore = FirestoreEmulator(path=path / "firestore.sqlite", clock=clock.now)
    triggers = Triggers(path=path, clock=clock, tokens=IdentityTokens(path=None, clock=clock))
    where = {"url": "http://127.0.0.1:9", "caller": "c"}
    triggers.add("t", event="google.cloud.firestore.document.v1.created", document="executions/{execution}", **where)
    await firestore.start()
    triggers.catch_up(firestore.last_commit())
    firestore.watch(triggers.observe)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((firestore.handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()

asyncio.run(main())
"""


@asynccontextmanager
async def reopened(path: Path, tokens: IdentityTokens) -> AsyncIterator[FirestoreEmulator]:
    """Return what is in the files after they were opened again as at a start, with what was missed caught up."""
    clock = EmulatorClock()
    firestore = FirestoreEmulator(path=path / "firestore.sqlite", clock=clock.now)
    triggers = Triggers(path=path, clock=clock, tokens=tokens)
    await firestore.start()
    triggers.catch_up(firestore.last_commit())
    try:
        yield firestore
    finally:
        await firestore.close()
        await triggers.close()


def list_documents(path: Path) -> set[str]:
    """Return the names of the stored documents."""
    with sqlite3.connect(path / "firestore.sqlite") as db:
        names = {name.rpartition("/")[2] for (name,) in db.execute("select name from documents where wire is not null")}
    db.close()
    return names


def events(path: Path) -> list[str]:
    """Return the documents whose creation is kept as an event."""
    with sqlite3.connect(path / "triggers.sqlite") as db:
        rows = db.execute("select json_extract(headers, '$.ce-document') from events").fetchall()
    db.close()
    return [name.rpartition("/")[2] for (name,) in rows]


def die(deaths: Mapping[Path, tuple[str, int]]) -> list[int]:
    """Let a process die in each folder, and return the codes they ended with."""
    arguments = [str(part) for path, (when, turn) in deaths.items() for part in (path, when, turn)]
    output = subprocess.run([sys.executable, "-c", DYING, *arguments], stdout=subprocess.PIPE, check=True, text=True).stdout
    return [*map(int, output.split())]


@pytest.fixture(scope="module")
def remains(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, int], Path]:
    """The folder that each death left."""
    folders = {death: tmp_path_factory.mktemp("remains") for death in DEATHS}
    assert die({path: death for death, path in folders.items()}) == [-signal.SIGKILL] * len(DEATHS)
    return folders


@pytest.mark.parametrize("death", DEATHS)
async def test_a_death_between_commit_and_event_loses_none_and_doubles_none(
    remains: Mapping[tuple[str, int], Path], tokens: IdentityTokens, death: tuple[str, int]
) -> None:
    folder, (_, turn) = remains[death], death
    for _ in range(2):
        async with reopened(folder, tokens):
            pass
    assert len(list_documents(folder)) == 3 * ((turn + 2) // 3)
    assert sorted(events(folder)) == sorted(list_documents(folder))


async def test_kill_9_under_load_leaves_an_event_for_every_document(
    tmp_path: Path, tokens: IdentityTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    acknowledged: set[str] = set()

    async def write(client: AsyncClient, first: int, enough: asyncio.Event) -> None:
        try:
            for number in range(first, first + 10_000):
                await client.document(f"executions/{number}").set({"n": number}, retry=None)
                acknowledged.add(str(number))
                if len(acknowledged) % 100 == 0:
                    enough.set()
        except GoogleAPICallError:
            return  # the server is gone

    for life in range(3):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SERVING, str(tmp_path), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", f"127.0.0.1:{int(await process.stdout.readline())}")
        client, enough = AsyncClient(project="test"), asyncio.Event()
        writers = [asyncio.create_task(write(client, 1_000_000 * life + 10_000 * item, enough)) for item in range(8)]
        await enough.wait()
        process.kill()
        await process.communicate()
        await asyncio.gather(*writers)
        await client._firestore_api.transport.close()
    async with reopened(tmp_path, tokens):
        pass
    assert len(acknowledged) >= 300
    assert acknowledged <= list_documents(tmp_path)
    assert sorted(events(tmp_path)) == sorted(list_documents(tmp_path))


async def test_what_an_update_and_a_deletion_were_is_known_after_a_restart(tmp_path: Path, tokens: IdentityTokens) -> None:
    assert die({tmp_path: ("before", 1)}) == [-signal.SIGKILL]
    async with reopened(tmp_path, tokens) as firestore:
        name = f"{ROOT}/executions/0-0"
        new = Document(name=name, fields={"a": {"integer_value": 1}})
        firestore._store.commit(DATABASE, [Write(update=new)._pb])
    async with reopened(tmp_path, tokens) as firestore:
        (change,) = firestore.last_commit()
        assert change.before is not None
        assert change.after is not None
        assert (change.name, dict(change.before.fields), change.after.fields["a"].integer_value) == (name, {}, 1)
        firestore._store.commit(DATABASE, [Write(delete=name)._pb])
    async with reopened(tmp_path, tokens) as firestore:
        (change,) = firestore.last_commit()
        assert change.before is not None
        assert (change.before.fields["a"].integer_value, change.after) == (1, None)


async def test_a_trigger_is_known_after_a_restart_and_its_events_wait_for_its_function(place, function, url) -> None:
    place.triggers.add("t", event=CREATED, document="executions/{execution}", url=url, caller=CALLER)
    triggers = await place.reopen()
    triggers.observe(created("executions/x"))
    await triggers.idle()
    assert not function.requests
    triggers.add("t", event=CREATED, document="executions/{execution}", url=url, caller=CALLER)
    await function.wait_for(1)


async def test_a_trigger_that_is_not_in_the_table_any_more_hears_of_nothing(place, function, url) -> None:
    place.triggers.add("t", event=CREATED, document="executions/{execution}", url=url, caller=CALLER)
    place.triggers.retain(["another"])
    triggers = await place.reopen()
    triggers.observe(created("executions/x"))
    triggers.add("t", event=CREATED, document="executions/{execution}", url=url, caller=CALLER)
    await triggers.idle()
    assert not function.requests


async def test_a_trigger_does_not_hear_of_a_commit_from_before_it_was(place, function, url) -> None:
    place.clock.advance(timedelta(seconds=1))
    place.triggers.add("t", event=CREATED, document="executions/{execution}", url=url, caller=CALLER)
    place.triggers.catch_up([created("executions/x")])
    await place.triggers.idle()
    assert not function.requests


def test_only_what_came_after_the_last_change_heard_of_was_missed() -> None:
    later = START + timedelta(microseconds=1)
    changes = [Changed(name=name, before=None, after=None, at=START) for name in ("c", "a", "b")]
    assert find_missed(changes, None) == changes
    assert find_missed(changes, (START, "a")) == changes[2:]
    assert find_missed(changes, (START, "b")) == []
    assert find_missed(changes, (START - timedelta(days=1), "a")) == changes
    assert find_missed(changes, (later, "a")) == ()
    assert find_missed([], (START, "a")) == []
