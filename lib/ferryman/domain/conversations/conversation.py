"""A conversation: its numbers, the branch that is shown, and the answers that are still to come, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ferryman.domain.copies import replace
from ferryman.domain.owners.limit import LimitReachedError

TITLE_CHARACTERS_MAX = 100
PENDING_MAX = 20
"""How many answers of a conversation may be waited for at once; they come one after the other."""

MESSAGES_MAX = 10_000
"""Questions and answers of a conversation, over all of its branches."""

ROOT = 0
"""The parent of a branch's first message."""


class ConversationGoneError(Exception):
    """The conversation, or the message that the new one belongs to, is not there. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """An answer that is waited for: its number, and the execution that writes it."""

    number: int
    execution: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation as stored. `person` began it; "" where the owner's own key did.

    `task` has the credentials, tools and limits that its answers are made with. `title` is the person's own where `is_named`;
    else it is the beginning of the first message, or a text that the model wrote after it had read others' (untrusted). `head`
    is the number of the message that the shown branch ends with, `last` that of the newest message of any branch; 0 before the
    first. `pending` are the answers that have not ended, in the order in which they come. One that `is_deleting` is as if it
    were not there.
    """

    id: str
    owner: str
    workspace: str
    agent: str
    task: str
    person: str = ""
    title: str = ""
    is_named: bool = False
    head: int = ROOT
    last: int = ROOT
    pending: tuple[PendingAnswer, ...] = ()
    created_at: datetime
    updated_at: datetime
    is_deleting: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers that a request for an answer takes: `question` is that of the new message of a person, None for none."""

    question: int | None
    answer: int


def ask(conversation: Conversation, execution: str, *, asks_again: bool = False, now: datetime) -> tuple[Conversation, Numbers]:
    """Return the conversation with a new question and the answer to it as the end of the shown branch, and their numbers.

    `execution` is the one that will write the answer.

    With `asks_again` there is no new question: the answer is another one to a question that is there. Raise
    `LimitReachedError` where too many answers are waited for, or the conversation has as many messages as it may have.
    """
    if len(conversation.pending) >= PENDING_MAX:
        raise LimitReachedError(f"{PENDING_MAX} answers of this conversation are waited for: ask again when one has come")
    question = None if asks_again else conversation.last + 1
    answer = conversation.last + (1 if asks_again else 2)
    if answer > MESSAGES_MAX:
        raise LimitReachedError(f"a conversation may have at most {MESSAGES_MAX:,} messages: begin another")
    pending = (*conversation.pending, PendingAnswer(answer, execution))
    return replace(conversation, head=answer, last=answer, pending=pending, updated_at=now), Numbers(question, answer)


def end_answer(conversation: Conversation, answer: int, *, now: datetime) -> Conversation:
    """Return the conversation without an answer that was waited for, however it ended."""
    pending = tuple(item for item in conversation.pending if item.number != answer)
    return replace(conversation, pending=pending, updated_at=now)


def is_next(conversation: Conversation, answer: int) -> bool:
    """Tell whether an answer may be written now: every one that was asked for before it has ended."""
    return all(item.number != answer for item in conversation.pending[1:])


def find_next(conversation: Conversation) -> PendingAnswer | None:
    """Return the answer that is to be written now, or None."""
    return conversation.pending[0] if conversation.pending else None


def derive_title(text: str) -> str:
    """Return the title of a conversation that nobody has named yet: the first line of its first message, cut at a word."""
    line = " ".join(text.strip().partition("\n")[0].split())
    if len(line) <= TITLE_CHARACTERS_MAX:
        return line
    cut = line[: TITLE_CHARACTERS_MAX - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
