"""Exporting: a workspace as an archive, read from the stores page by page and sent as it is written.

Definitions are read first, then the executions, the newest first, each once it has ended: what has ended does not change any
more, so that every execution in an archive is whole. One that is under way when its page is read is left out and counted; what
is started or changed after its page was read is not in it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from ferryman.archives.writing import ArchiveWriter
from ferryman.catalog.tools import keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.domain.archives import content
from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.archives.files import KINDS
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.executions.execution import Execution
from ferryman.domain.metering.week import WeekPart, list_kept_mondays
from ferryman.domain.records.document import write_time
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.workspace import Workspace
from ferryman.ports.local_functions import derive_user_id
from ferryman.serving.export_files import FilesExport
from ferryman.serving.export_pages import iterate_documents, iterate_pages

PAGE = 50
"""Tasks, executions or calls that are read at once: with a result of 50,000 characters each, calls are some megabytes."""

TOOLS_PAGE = 200
MESSAGES_PAGE = 10
"""Messages that are read at once: an answer with its results is at most 1 MB."""

RECEIPTS_PAGE = 500
PLACED_PAGE = 200
WEEKS_PAGE = 5
"""Weeks of usage that are read at once: at most 1 MB each."""


class WorkspaceExport:
    """One export. `stream` yields the bytes of the archive; `check` is called between them, and may end it by raising."""

    def __init__(self, deps: ApiDependencies, workspace: Workspace, check: Callable[[], Awaitable[None]]) -> None:
        self._deps = deps
        self._workspace = workspace
        self._check = check
        self._writer = ArchiveWriter()
        self._counts: Counter[str] = Counter()
        self._left_out = 0
        self._files = FilesExport(deps.files, workspace.id)

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the archive."""
        yield await self._add("workspace", content.write_workspace, self._workspace)
        agents = await self._deps.agents.list(self._workspace.owner, self._workspace.id)
        servers = [await self._list_servers(agent.id) for agent in agents]
        yield await self._add("agents", content.write_agents, [*zip(agents, servers, strict=True)], count=len(agents))
        tasks = []
        async for task in self._iterate_tasks():
            labels = [sealed.label for sealed in await self._deps.credentials.list(task.id)]
            yield await self._add("tasks", content.write_task, task, labels)
            tasks.append(task.id)
        for name in tasks:
            async for written in self._stream_tools(name):
                yield written
        async for written in self._stream_people():
            yield written
        async for written in self._stream_usage():
            yield written
        async for written in self._stream_files():
            yield written
        async for written in self._stream_conversations():
            yield written
        async for execution in self._iterate_executions():
            async for written in self._stream_execution(execution):
                yield written
        about = {
            "workspace": self._workspace.id,
            "name": self._workspace.name,
            "exported_at": write_time(self._deps.clock.now()),
            "counts": {kind: self._counts[kind] for kind in KINDS},
            "left_out": self._left_out,
            "file_bytes": self._files.size_bytes if keeps_files(self._deps.tools) else None,
            "files_left_out": self._files.left_out,
            "keys": {str(version): key.hex() for version, key in sorted(self._deps.receipt_keys.items())},
        }
        yield await asyncio.to_thread(self._writer.end, about)

    async def _list_servers(self, agent: str) -> Sequence[RemoteServer]:
        return await self._deps.remote_servers.list(agent, owner=self._workspace.owner, workspace=self._workspace.id)

    async def _add(self, kind: str, build: Callable[..., Any], *arguments: Any, count: int = 1) -> bytes:
        """Write lines in a thread: to serialize and to compress them takes processor time."""
        self._counts[kind] += count
        await self._check()
        return await asyncio.to_thread(self._writer.add, kind, build, *arguments)

    async def _iterate_tasks(self) -> AsyncIterator[Task]:
        tasks, name = self._deps.tasks, self._workspace.id
        async for page in iterate_pages(lambda after: tasks.list(name, after=after, most=PAGE)):
            for summary in page:
                task = await tasks.get(summary.id)
                if task is not None:  # it was not deleted meanwhile
                    yield task

    async def _stream_tools(self, task: str) -> AsyncIterator[bytes]:
        after = None
        while True:
            tools, has_more = await self._deps.clusters.page(task, after=after, most=TOOLS_PAGE)
            yield await self._add("tools", content.write_tools, task, tools, count=len(tools))
            if not has_more:
                return
            after = (tools[-1].cluster, tools[-1].name)

    async def _stream_people(self) -> AsyncIterator[bytes]:
        """Yield the members, who changed what, the alerts, and what is kept for users."""
        deps, owner, workspace = self._deps, self._workspace.owner, self._workspace.id
        members = await deps.members.list(owner, workspace)
        yield await self._add("members", content.write_members, members, count=len(members))
        async for entries in iterate_pages(lambda after: deps.audit.list(owner, workspace, after=after, most=PLACED_PAGE)):
            yield await self._add("audit", content.write_placed, entries, count=len(entries))
        async for alerts in iterate_pages(lambda after: deps.alerts.list(owner, workspace, after=after, most=PLACED_PAGE)):
            yield await self._add("alerts", content.write_placed, alerts, count=len(alerts))
        persons = [(membership.person, membership.person) for membership, _ in members]
        people = {derive_user_id(user, owner=owner, workspace=workspace): name for user, name in [(owner, ""), *persons]}
        async for stored in iterate_documents(deps.user_documents, workspace, most=PAGE):
            yield await self._add("documents", content.write_documents, stored, people, count=len(stored))

    async def _stream_usage(self) -> AsyncIterator[bytes]:
        """Yield what was used, as far as it is in the weeks."""
        mondays = list_kept_mondays(self._deps.clock.now().date())
        for part in WeekPart:
            for start in range(0, len(mondays), WEEKS_PAGE):
                page = mondays[start : start + WEEKS_PAGE]
                weeks = await self._deps.usage.list_weeks(self._workspace.id, mondays=page, part=part)
                lines = sum(1 for week in weeks for _ in week.read_rows())
                yield await self._add("usage", content.write_usage, weeks, count=lines)

    async def _stream_files(self) -> AsyncIterator[bytes]:
        """Yield the workspace's files, where the deployment keeps any."""
        if not keeps_files(self._deps.tools):
            return
        async for build, argument in self._files.iterate():
            yield await self._add("files", build, *argument, count=0)
        self._counts["files"] = self._files.count

    async def _stream_conversations(self) -> AsyncIterator[bytes]:
        """Yield the conversations, and then the messages of each: what is asked meanwhile is not in the archive."""
        store, place = self._deps.conversations, (self._workspace.owner, self._workspace.id)
        known: list[tuple[str, int]] = []
        async for page in iterate_pages(lambda after: store.list(*place, after=after, most=PLACED_PAGE)):
            for conversation in page:
                head = await self._find_head(conversation)
                yield await self._add("conversations", content.write_conversation, conversation, head)
                known.append((conversation.id, conversation.last))
        for name, last in known:
            async for messages in self._iterate_messages(name, last):
                yield await self._add("messages", content.write_messages, messages, count=len(messages))

    async def _iterate_messages(self, conversation: str, last: int) -> AsyncIterator[Sequence[Message]]:
        after = 0
        while page := await self._deps.conversations.list_messages(conversation, after=after, most=MESSAGES_PAGE):
            yield [message for message in page if message.number <= last]
            after = page[-1].number

    async def _find_head(self, conversation: Conversation) -> int:
        """Return the end of the shown branch, or the newest answer where that is still to come; 0 for none."""
        if await self._deps.conversations.get_messages(conversation.id, [conversation.head]):
            return conversation.head
        newest = 0
        async for messages in self._iterate_messages(conversation.id, conversation.last):
            newest = max([newest, *(message.number for message in messages if message.role is Speaker.ASSISTANT)])
        return newest

    async def _iterate_executions(self) -> AsyncIterator[Execution]:
        store, name = self._deps.executions, self._workspace.id
        async for page in iterate_pages(lambda after: store.list(name, after=after, most=PAGE)):
            for summary in page:
                execution = await store.get(summary.id) if summary.status.terminal else None
                if execution is not None:
                    yield execution
                self._left_out += not summary.status.terminal

    async def _stream_execution(self, execution: Execution) -> AsyncIterator[bytes]:
        store, name = self._deps.executions, execution.id
        is_imported = execution.imported_from is not None
        opening, steps, entries, tickets = await asyncio.gather(
            store.opening(name),
            store.steps(name),
            self._deps.archives.list_entries(name) if is_imported else self._deps.ledger.of_execution(name),
            store.tickets(name, most=PAGE),
        )
        yield await self._add("executions", content.write_execution, execution)
        first = ExecutionParts(opening=opening, steps=steps)
        yield await self._add("executions", content.write_parts, first, count=0)
        while tickets:
            yield await self._add("executions", content.write_parts, ExecutionParts(tickets=tickets), count=0)
            following = len(tickets) == PAGE
            tickets = await store.tickets(name, first=tickets[-1].seq + 1, most=PAGE) if following else ()
        yield await self._add("executions", content.write_parts, ExecutionParts(entries=entries), count=0)
        receipts = await store.receipts(name, most=RECEIPTS_PAGE)
        while receipts:
            yield await self._add("executions", content.write_parts, ExecutionParts(receipts=receipts), count=0)
            following = len(receipts) == RECEIPTS_PAGE
            receipts = await store.receipts(name, first=receipts[-1].number + 1, most=RECEIPTS_PAGE) if following else ()
        yield await self._add("executions", content.write_end, name, count=0)
