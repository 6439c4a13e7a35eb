"""Conversations in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from ferryman.domain.conversations.asking import Question, build_answer, take_question
from ferryman.domain.conversations.conversation import Conversation, ConversationGoneError, end_answer
from ferryman.domain.conversations.message import Message
from ferryman.domain.conversations.titles import check_unnamed, set_title
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.inmemory import keyed
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.memory import Memory, PlannedStore
from ferryman.inmemory.workspaces import check_workspace
from ferryman.ports.conversations import StartedAnswer
from ferryman.ports.errors import TaskDisabledError


class MemoryConversations(PlannedStore):
    """`ports.Conversations`."""

    async def create(self, conversation: Conversation, *, done: Completion | None = None) -> None:
        keyed.check_completion(self._memory, done)
        check_workspace(self._memory, conversation.workspace, owner=conversation.owner)
        place = {"owner": conversation.owner, "workspace": conversation.workspace}
        if await MemoryAgents(self._memory).get(conversation.agent, **place) is None:
            raise AgentGoneError
        if conversation.id in self._memory.conversations:
            raise ValueError("the conversation exists already")
        self._memory.conversations[conversation.id] = conversation
        keyed.store_completion(self._memory, done)

    async def get(self, conversation: str, *, owner: str, workspace: str) -> Conversation | None:
        stored = self._memory.conversations.get(conversation)
        if stored is None or stored.is_deleting or (stored.owner, stored.workspace) != (owner, workspace):
            return None
        return stored

    async def list(
        self, owner: str, workspace: str, *, agent: str | None = None, after: Position | None = None, most: int = 50
    ) -> Page[Conversation]:
        stored_here = [
            stored
            for stored in self._memory.conversations.values()
            if not stored.is_deleting
            and (stored.owner, stored.workspace) == (owner, workspace)
            and agent in (None, stored.agent)
        ]
        newest = sorted(stored_here, key=_locate, reverse=True)
        here = [stored for stored in newest if after is None or _locate(stored) < after]
        return Page(items=tuple(here[:most]), end=_locate(here[most - 1]) if len(here) > most else None)

    async def update(self, conversation: Conversation, fields: Collection[str], *, since: datetime) -> bool:
        stored = await self.get(conversation.id, owner=conversation.owner, workspace=conversation.workspace)
        if stored is None:
            return False
        if stored.updated_at != since:
            raise StaleError("changed by somebody else")
        changes = {name: getattr(conversation, name) for name in (*fields, "updated_at")}
        self._memory.conversations[conversation.id] = replace(stored, **changes)
        return True

    async def ask(
        self, conversation: Conversation, question: Question, execution: Execution, *, most: int, done: Completion | None = None
    ) -> StartedAnswer:
        keyed.check_completion(self._memory, done)
        memory = self._memory
        task = memory.tasks.get(execution.task)
        if task is None or not task.enabled:
            raise TaskDisabledError(DISABLED)
        check_workspace(memory, execution.workspace, owner=execution.owner)
        stored = await self.get(conversation.id, owner=conversation.owner, workspace=conversation.workspace)
        if stored is None:
            raise ConversationGoneError("the conversation is not there")
        started = take_question(stored, question, execution)
        occupied = self._occupied(execution.owner).enqueue(started.execution, most=most)
        memory.occupancy[execution.owner] = occupied
        memory.conversations[stored.id] = started.conversation
        if started.message is not None:
            memory.messages.setdefault(stored.id, {})[started.message.number] = started.message
        memory.executions[execution.id] = self._keep(started.execution)
        keyed.store_completion(memory, done)
        return StartedAnswer(question=started, occupancy=occupied)

    async def start_title(self, execution: Execution, *, most: int) -> Occupancy:
        memory = self._memory
        task = memory.tasks.get(execution.task)
        if task is None or not task.enabled:
            raise TaskDisabledError(DISABLED)
        check_workspace(memory, execution.workspace, owner=execution.owner)
        check_unnamed(await self.get(execution.conversation, owner=execution.owner, workspace=execution.workspace))
        if execution.id not in memory.executions:
            memory.occupancy[execution.owner] = self._occupied(execution.owner).enqueue(execution, most=most)
            memory.executions[execution.id] = self._keep(execution)
        return self._occupied(execution.owner)

    async def list_messages(self, conversation: str, *, after: int = 0, most: int | None = None) -> Sequence[Message]:
        stored = self._memory.messages.get(conversation, {})
        return [stored[number] for number in sorted(stored) if number > after][:most]

    async def get_messages(self, conversation: str, numbers: Collection[int]) -> Sequence[Message]:
        stored = self._memory.messages.get(conversation, {})
        return [stored[number] for number in sorted(numbers) if number in stored]


def end_in_conversation(
    memory: Memory, execution: Execution, message: Message | None, now: datetime, *, title: str = ""
) -> None:
    """Store the answer of an execution that has ended, and let the next one of its conversation be written; or its title."""
    conversation = memory.conversations.get(execution.conversation)
    if not execution.is_in_chat or conversation is None:
        return
    if execution.titled_answer:
        memory.conversations[conversation.id] = set_title(conversation, title)
        return
    memory.messages.setdefault(conversation.id, {})[execution.answer] = message or build_answer(execution)
    memory.conversations[conversation.id] = end_answer(conversation, execution.answer, now=now)


def _locate(conversation: Conversation) -> Position:
    return Position(conversation.created_at, conversation.id)
