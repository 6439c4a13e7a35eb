"""What a call of files and of pages asks for: the orchestrator's side is a deployment's, `files` has a bucket that is counted.

`web` and `search` ask nothing of the cloud: what they answer is made up here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from bench.operations.bucket import run_bucket
from bench.operations.counting import Counts
from bench.operations.model import CREDENTIAL, HOST, LINE, LONG_PATH, LONG_TEXT, Call, CountingModel
from bench.operations.services import FILES, WEB
from bench.operations.system import INVOKED, TASK, CountedSystem, create_task
from ferryman.composition.files import TOOLS as FILE_TOOLS
from ferryman.domain.calls.call import Ticket, ToolCall
from ferryman.domain.calls.keyless_answer import KeylessAnswer, read_answer
from ferryman.domain.calls.part import PartKind
from ferryman.domain.executions.execution import Execution
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.file_quotas import FirestoreFileQuotas
from ferryman.gcp.queue import CloudTasksKept
from ferryman.gcp.retention import Retention
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.tools.files.answering import answer_call
from ferryman.tools.files.file_call import FileCall
from ferryman.tools.files.hook import FileHook
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping.answered import AnsweredCalls
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keeping.storing import KeptFiles
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.keyless.hook import CallHook
from ferryman.tools.keyless.keeping import ResultFiles
from ferryman.tools.registry import ToolRegistry
from ferryman.tools.web.hook import WebHook

FILE_BYTES = 4_000
TURNS = 2
"""Turns of an execution that is measured: the second one is."""


def write(turn: int, number: int) -> Call:
    """Return a call that writes a new file."""
    return "file_write", {"key": f"notes/{turn}-{number}.md", "content": "x" * FILE_BYTES}


def read(turn: int, number: int) -> Call:
    """Return a call that reads on in a file."""
    return "file_read", {"key": "notes/0-0.md", "offset": 10 * turn + number}


def fetch(turn: int, number: int, *, path: str = "page") -> Call:
    """Return a call that fetches a page."""
    return "web_fetch", {"url": f"https://{HOST}/{path}?turn={turn}&n={number}"}


def ask_long(turn: int, number: int) -> Call:
    """Return a call with a credential whose answer is kept."""
    return "api_call", {"method": "GET", "url": f"https://{HOST}/{LONG_PATH}?turn={turn}&n={number}", "credential": CREDENTIAL}


def search(turn: int, number: int) -> Call:
    """Return a call that searches."""
    return "web_search_tool", {"query": f"ferries {turn} {number}"}


CALLS: Mapping[str, Callable[[int, int], Call]] = {
    "file_write": write,
    "file_read": read,
    "web_fetch": fetch,
    "kept_result": partial(fetch, path=LONG_PATH),
    "kept_answer": ask_long,
    "web_search_tool": search,
}
"""By part; files are written before they are read."""


async def add_keyless(system: CountedSystem) -> CountedSystem:
    """Return the system with tools of files and of pages, and a task that has them."""
    counts, settings, clock = system.counts, system.settings, SystemClock()
    clients = GoogleClients(settings)
    system.closing.push_async_callback(clients.close)
    files = WorkspaceFiles(await run_bucket(system.closing, counts))
    scanner = system.loop.scanner

    async def ask(function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        counts[function, INVOKED] += 1
        if function == FILES:
            call = FileCall(files=files, workspace=body["workspace"], write=body["write"], is_done=body["is_done"])
            tool_call = ToolCall(id=body["call"], name=body["tool"], arguments=body["arguments"])
            return read_answer(await answer_call(call, tool_call, UUID(body["user"]), within_s=body["within_s"]))
        url = body["arguments"].get("url")
        text = LONG_TEXT if LONG_PATH in str(url) else LINE
        return KeylessAnswer(text, url=url, method=None if url is None else "GET", response_status=None if url is None else 200)

    room = FileRoom(files=_reach(files, counts), quotas=FirestoreFileQuotas(clients), clock=clock)
    long_results = KeptFiles(
        room=room, timers=CloudTasksKept(clients, settings), period=Retention.from_settings(settings).period
    )
    results = ResultFiles(files=long_results, scanner=scanner)
    hooks: Mapping[str, CallHook] = {FILES: FileHook(room=room), WEB: WebHook(True)}
    keyless = KeylessCalls(
        tickets=FirestoreTickets(clients), scanner=scanner, clock=clock, ask=ask, hooks=hooks, results=results
    )
    functions = system.loop.registry

    async def run(ticket: Ticket, *, execution: Execution) -> Ticket:
        answered = await functions.execute(ticket, execution=execution, admit=lambda _: None)
        assert isinstance(answered, Ticket)
        return answered

    answers = AnsweredCalls(run=run, executions=system.loop.executions, clock=clock, files=long_results)
    registry = ToolRegistry(keyless.execute, {"http": answers.execute})
    tools = [*TASK["tools"], *FILE_TOOLS, "web_fetch", "web_search_tool"]
    task = await create_task(system.client, {**TASK, "name": "files", "tools": tools})
    return replace(system, loop=replace(system.loop, registry=registry), task=task)


async def count_keyless(system: CountedSystem, kind: str) -> tuple[Counts, Counts, Counts, Counts]:
    """Return the counts before and after the second turn, of an execution with one call a turn and of one with three."""
    counted = list[Counts]()
    for calls in (1, 3):
        system.counts.clear()
        execution = await system.request_execution()
        model = CountingModel(TURNS, calls, partial(system.snapshot, execution), choose=CALLS[kind])
        await system.deliver(execution, model)
        await _check(system, execution, is_kept=kind in ("kept_result", "kept_answer"))
        counted += [model.at_turn[TURNS - 1], model.at_turn[TURNS]]
    first, second, third, fourth = counted
    return first, second, third, fourth


async def _check(system: CountedSystem, execution: str, *, is_kept: bool) -> None:
    """Check that each call did what is measured: a failure would ask for less."""
    for ticket in await system.operator_store.tickets(execution):
        result = ticket.result
        assert result is not None, ticket
        assert result.ok, result.content
        assert any(part.kind is PartKind.FILE for part in result.parts) is is_kept, result.content[-300:]


def _reach(files: WorkspaceFiles, counts: Counts) -> Any:
    """Return the files as the orchestrator has them: each call of theirs is a request to the function."""

    class Remote:
        def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
            async def call(*arguments: Any, **named: Any) -> Any:
                counts[FILES, INVOKED] += 1
                return await getattr(files, method)(*arguments, **named)

            return call

    return Remote()
