"""The conversation of a scenario that answers a message: two questions, the second of which waits for the first answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ferryman.domain.conversations.asking import STATES, Question
from ferryman.domain.conversations.conversation import Conversation, PendingAnswer
from ferryman.domain.conversations.message import AnswerState, Message
from ferryman.domain.conversations.titles import derive_title_execution
from ferryman.domain.executions.execution import Execution, Step
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.ports.conversations import Conversations
from ferryman.ports.executions import Executions
from tests.campaigns.crash.agents import AGENT
from tests.campaigns.crash.scenarios import SUMMARY

CHAT, LATER = "chat", "later"
"""The conversation, and the execution of the answer that is waited for at the end."""

WORKSPACE = derive_default_workspace("o")
EARLIER = "earlier"
"""The execution of an answer before, which was stopped before it began."""

LONG = "When does the ferry leave? " * 4_000
"""A question that is too long for the credits of an answer to be read again."""


class Ports(Protocol):
    """What is stored here."""

    @property
    def conversations(self) -> Conversations: ...
    @property
    def executions(self) -> Executions: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChat:
    """What is stored of the conversation at the end."""

    conversation: Conversation
    messages: Sequence[Message] = field(repr=False)
    title: Execution | None = None


async def store_chat(ports: Ports, first: Execution, *, is_long: bool) -> None:
    """Store a conversation with a question that `first` answers, and one that another will; one that is long has another
    before."""
    place = {"owner": first.owner, "workspace": WORKSPACE, "agent": AGENT, "task": first.task}
    conversation = Conversation(id=CHAT, created_at=START, updated_at=START, **place)
    await ports.conversations.create(conversation)
    for name, content in (*([(EARLIER, LONG)] if is_long else []), (first.id, "Do it."), (LATER, "And again.")):
        execution = Execution(id=name, conversation=CHAT, created_at=START, **place)
        await ports.conversations.ask(conversation, Question(content=content), execution, most=1_000)
        if name == EARLIER:
            await ports.executions.cancel(name, by="o", now=START)


async def read_chat(ports: Ports) -> StoredChat | None:
    """Return what is stored of the conversation, None where there is none."""
    conversation = await ports.conversations.get(CHAT, owner="o", workspace=WORKSPACE)
    if conversation is None:
        return None
    messages = await ports.conversations.list_messages(CHAT)
    answers = [message.execution for message in messages if message.execution]
    titles = [await ports.executions.get(derive_title_execution(answer)) for answer in answers]
    return StoredChat(conversation=conversation, messages=messages, title=next(filter(None, titles), None))


def find_unanswered(
    chat: StoredChat | None, execution: Execution, steps: Sequence[Step], *, is_titled: bool = False
) -> list[str]:
    """Check that the conversation has the one answer that the execution ended with, and waits for the next one.

    The execution of its title is there where it `is_titled`, and otherwise not.
    """
    if chat is None:
        return []
    findings = []
    if (chat.title is not None) != is_titled:
        findings.append(f"lost: the title is {chat.title}")
    before = execution.answer - 2
    if chat.conversation.pending != (PendingAnswer(execution.answer + 2, LATER),):
        findings.append(f"lost: the conversation waits for {chat.conversation.pending}")
    if [message.number for message in chat.messages] != [*range(1, execution.answer + 2)]:
        return [*findings, f"lost: the messages {[message.number for message in chat.messages]} are stored"]
    message = chat.messages[before + 1]
    if before and steps and (message.summary, message.summarized) != (SUMMARY, before):
        findings.append(f"lost: the answer keeps the summary {message.summary!r} of the messages up to {message.summarized}")
    state = STATES.get(execution.status, AnswerState.FAILED)
    if (message.execution, message.content, message.state) != (execution.id, execution.output or "", state):
        findings.append(f"lost: the answer is {message.state} and says {message.content[:40]!r}")
    calls = [step for step in steps if step.calls]
    # the calls of the last turn of an answer that was stopped may have no results
    if not len(calls) - (state is not AnswerState.COMPLETE) <= len(message.parts) <= len(calls):
        findings.append(f"lost: the answer has {len(message.parts)} turns with calls")
    if message.credits != execution.credits_used:
        findings.append(f"charged: the answer says {message.credits} credits")
    return findings
