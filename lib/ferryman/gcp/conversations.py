"""Conversations in Firestore: a document each, with its messages below it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.conversations.asking import AskedQuestion, Question, build_answer, take_question
from ferryman.domain.conversations.conversation import Conversation, ConversationGoneError, end_answer
from ferryman.domain.conversations.message import Message
from ferryman.domain.conversations.titles import check_unnamed, set_title
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.executions.retention import freeze_retention
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.gcp import documents, keyed, occupancy
from ferryman.gcp.agents import read_agent
from ferryman.gcp.execution_documents import read_execution, write_execution
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.pages import read_page
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT, Retention, read_workspace_days
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, filter_by, in_transaction, read_together
from ferryman.gcp.workspace_documents import check_workspace
from ferryman.ports.conversations import StartedAnswer
from ferryman.ports.errors import TaskDisabledError
from ferryman.selection.messages import index_message

FIELDS = documents.name_fields(Conversation)
MESSAGES = "messages"


class FirestoreConversations(FirestoreStore):
    """`ports.Conversations`.

    Messages expire as the executions do that they belong to, and a conversation with its newest message.
    """

    def __init__(self, clients: FirestoreClient, retention: Retention | None = None) -> None:
        super().__init__(clients)
        self._retention = retention or Retention()

    async def create(self, conversation: Conversation, *, done: Completion | None = None) -> None:
        reference = self._places.locate_conversation(conversation.id)
        await documents.confirm_created(self._create(conversation, done), reference, conversation)

    @in_transaction
    async def _create(self, transaction: Transaction, conversation: Conversation, done: Completion | None) -> None:
        answered = await keyed.read_completion(transaction, self._places, done)
        workspace_at = self._places.locate_workspace(conversation.workspace)
        agent_at = self._places.locate_agent(conversation.agent)
        snapshots = await read_together(self._client, [workspace_at, agent_at], transaction)
        check_workspace(snapshots[workspace_at.path], owner=conversation.owner)
        if read_agent(snapshots[agent_at.path], owner=conversation.owner, workspace=conversation.workspace) is None:
            raise AgentGoneError
        transaction.create(self._places.locate_conversation(conversation.id), documents.write(conversation))
        keyed.store_completion(transaction, self._places, answered)

    async def get(self, conversation: str, *, owner: str, workspace: str) -> Conversation | None:
        return _read(await self._places.locate_conversation(conversation).get(), owner=owner, workspace=workspace)

    async def list(
        self, owner: str, workspace: str, *, agent: str | None = None, after: Position | None = None, most: int = 50
    ) -> Page[Conversation]:
        query = filter_by(self._client.collection("conversations"), ("workspace", "==", workspace))
        if agent is not None:
            query = filter_by(query, ("agent", "==", agent))
        return await read_page(
            query,
            lambda snapshot: _read(snapshot, owner=owner, workspace=workspace),
            names=FIELDS,
            after=after,
            most=most,
            newest_first=True,
        )

    @in_transaction
    async def update(
        self, transaction: Transaction, conversation: Conversation, fields: Collection[str], *, since: datetime
    ) -> bool:
        reference = self._places.locate_conversation(conversation.id)
        snapshot = await reference.get(transaction=transaction)
        stored = _read(snapshot, owner=conversation.owner, workspace=conversation.workspace)
        if stored is None:
            return False
        if stored.updated_at != since:
            raise StaleError("changed by somebody else")
        transaction.update(reference, documents.write_fields(conversation, *fields, "updated_at"))
        return True

    async def ask(
        self, conversation: Conversation, question: Question, execution: Execution, *, most: int, done: Completion | None = None
    ) -> StartedAnswer:
        execution_at = self._places.locate_execution(execution.id)
        asking = self._ask(conversation, question, execution, most, done)
        started = await documents.confirm_created(asking, execution_at, execution)
        return await self._read_started(conversation, execution_at) if started is None else started

    async def _read_started(self, conversation: Conversation, execution_at: Reference) -> StartedAnswer:
        """Return what was stored by a commit whose answer was lost."""
        execution = read_execution(await execution_at.get())
        stored = await self.get(conversation.id, owner=conversation.owner, workspace=conversation.workspace)
        if execution is None or stored is None:
            raise ConversationGoneError("the conversation is not there")
        messages = await self.get_messages(conversation.id, [execution.answer - 1])
        message = next((item for item in messages if item.number == execution.question), None)
        occupied = occupancy.read_occupancy(await self._places.locate_occupancy(execution.owner).get())
        started = AskedQuestion(conversation=stored, message=message, execution=execution)
        return StartedAnswer(question=started, occupancy=occupied)

    @in_transaction
    async def _ask(
        self,
        transaction: Transaction,
        conversation: Conversation,
        question: Question,
        execution: Execution,
        most: int,
        done: Completion | None,
    ) -> StartedAnswer:
        places, owner = self._places, execution.owner
        conversation_at, task_at = places.locate_conversation(conversation.id), places.locate_task(execution.task)
        occupancy_at, workspace_at = places.locate_occupancy(owner), places.locate_workspace(execution.workspace)
        answered = await keyed.read_completion(transaction, places, done)
        snapshots = await read_together(self._client, [conversation_at, task_at, occupancy_at, workspace_at], transaction)
        if not (snapshots[task_at.path].to_dict() or {}).get("enabled", False):
            raise TaskDisabledError(DISABLED)
        check_workspace(snapshots[workspace_at.path], owner=owner)
        stored = _read(snapshots[conversation_at.path], owner=conversation.owner, workspace=conversation.workspace)
        if stored is None:
            raise ConversationGoneError("the conversation is not there")
        started = take_question(stored, question, execution)
        occupied = occupancy.read_occupancy(snapshots[occupancy_at.path]).enqueue(started.execution, most=most)
        occupancy.store_occupancy(transaction, places, owner, occupied)
        frozen = freeze_retention(started.execution, read_workspace_days(snapshots[workspace_at.path]))
        expiry = self._retention.expire_below(frozen, execution.created_at)
        # another question of it may wait for a person for longer
        known = (snapshots[conversation_at.path].to_dict() or {}).get(EXPIRE_AT)
        lasting = {EXPIRE_AT: max(known, expiry[EXPIRE_AT])} if expiry and known is not None else expiry
        transaction.set(conversation_at, {**documents.write(started.conversation), **lasting})
        if started.message is not None:
            message_at = places.locate_message(stored.id, started.message.number)
            found_by = index_message(started.message, workspace=stored.workspace)
            transaction.create(message_at, {**documents.write(started.message), **found_by, **expiry})
        transaction.create(places.locate_execution(execution.id), write_execution(frozen))
        keyed.store_completion(transaction, places, answered)
        return StartedAnswer(question=started, occupancy=occupied)

    async def start_title(self, execution: Execution, *, most: int) -> Occupancy:
        execution_at = self._places.locate_execution(execution.id)
        started = await documents.confirm_created(self._start_title(execution, most), execution_at, execution)
        if started is not None:
            return started
        return occupancy.read_occupancy(await self._places.locate_occupancy(execution.owner).get())

    @in_transaction
    async def _start_title(self, transaction: Transaction, execution: Execution, most: int) -> Occupancy:
        places, owner = self._places, execution.owner
        conversation_at, task_at = places.locate_conversation(execution.conversation), places.locate_task(execution.task)
        occupancy_at, workspace_at = places.locate_occupancy(owner), places.locate_workspace(execution.workspace)
        execution_at = places.locate_execution(execution.id)
        references = [conversation_at, task_at, occupancy_at, workspace_at, execution_at]
        snapshots = await read_together(self._client, references, transaction)
        if not (snapshots[task_at.path].to_dict() or {}).get("enabled", False):
            raise TaskDisabledError(DISABLED)
        check_workspace(snapshots[workspace_at.path], owner=owner)
        check_unnamed(_read(snapshots[conversation_at.path], owner=owner, workspace=execution.workspace))
        before = occupancy.read_occupancy(snapshots[occupancy_at.path])
        if snapshots[execution_at.path].exists:
            return before
        occupied = before.enqueue(execution, most=most)
        occupancy.store_occupancy(transaction, places, owner, occupied)
        frozen = freeze_retention(execution, read_workspace_days(snapshots[workspace_at.path]))
        transaction.create(execution_at, write_execution(frozen))
        return occupied

    async def list_messages(self, conversation: str, *, after: int = 0, most: int | None = None) -> Sequence[Message]:
        collection = self._places.locate_conversation(conversation).collection(MESSAGES)
        query = filter_by(collection, ("number", ">", after)).order_by("number")
        return await documents.read_all(Message, query if most is None else query.limit(most))

    async def get_messages(self, conversation: str, numbers: Collection[int]) -> Sequence[Message]:
        references = [self._places.locate_message(conversation, number) for number in sorted(numbers)]
        snapshots = await read_together(self._client, references) if references else {}
        messages = (documents.read_or_none(Message, snapshots[reference.path]) for reference in references)
        return [message for message in messages if message is not None]


async def read_conversation(places: Places, execution: Execution, transaction: Transaction) -> Conversation | None:
    """Return the conversation of an answer or a title; None for an execution of no chat, or whose conversation was deleted."""
    if not execution.is_in_chat:
        return None
    snapshot = await places.locate_conversation(execution.conversation).get(transaction=transaction)
    return documents.read_or_none(Conversation, snapshot)


def end_in_conversation(
    transaction: Transaction,
    places: Places,
    conversation: Conversation | None,
    ended: Execution,
    message: Message | None,
    expiry: Mapping[str, Any],
    *,
    title: str = "",
) -> None:
    """Store the answer of an execution that has ended, and let the next one of its conversation be written; or its title."""
    if conversation is None:
        return
    if ended.titled_answer:
        named = set_title(conversation, title)
        if named != conversation:
            transaction.update(places.locate_conversation(conversation.id), documents.write_fields(named, "title"))
        return
    assert ended.completed_at is not None, "the execution has ended"
    after = end_answer(conversation, ended.answer, now=ended.completed_at)
    changed = documents.write_fields(after, "pending", "updated_at")
    transaction.update(places.locate_conversation(conversation.id), {**changed, **expiry})
    answer = message or build_answer(ended)
    document = {**documents.write(answer), **index_message(answer, workspace=conversation.workspace), **expiry}
    transaction.create(places.locate_message(conversation.id, ended.answer), document)


def _read(snapshot: Snapshot, *, owner: str, workspace: str) -> Conversation | None:
    stored = documents.read_or_none(Conversation, snapshot)
    if stored is None or stored.is_deleting or (stored.owner, stored.workspace) != (owner, workspace):
        return None
    return stored
