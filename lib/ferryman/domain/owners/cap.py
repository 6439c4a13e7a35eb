"""Caps: how many credits of its owner's month a workspace, an agent, a person, a task or a conversation may use at most."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from ferryman.domain.stored import LEFT_OUT


class CapKind(StrEnum):
    """What a cap limits, from the outermost to the innermost."""

    OWNER = "owner"
    """Everything of the owner: the plan's own limit."""
    WORKSPACE = "workspace"
    AGENT = "agent"
    PERSON = "person"
    """The executions that a person started in one workspace."""
    TASK = "task"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """At most `credits` in a month (UTC) by what `kind` and `id` name.

    A person's `id` is that of `name_person_part`, a conversation's that of `name_conversation_part`. `set_by` tells where the
    cap of a conversation is set: on its agent or on its workspace; None for what has its own.
    """

    kind: CapKind
    id: str
    credits: Decimal
    set_by: CapKind | None = field(default=None, metadata=LEFT_OUT)

    @property
    def part(self) -> str:
        """The part of the owner's balance that is counted against it."""
        return name_part(self.kind, self.id)


def name_part(kind: CapKind, name: str) -> str:
    """Return the name of what is counted for one thing: no thing of another kind has it."""
    return f"{kind}:{name}"


def name_person_part(workspace: str, person: str) -> str:
    """Return the id of a person in a workspace, under which the person's executions there are counted and capped."""
    return f"{workspace}/{person}"  # no id has a slash


def name_conversation_part(agent: str, conversation: str) -> str:
    """Return the id of a conversation of an agent, under which its executions are counted and capped."""
    return f"{agent}/{conversation}"  # no id has a slash
