"""The context of an execution: who acts, for whom, where (C-22). It alone scopes everything that a tool stores or reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionContext:
    """The ids of what an execution belongs to, from the outermost to the innermost.

    `user` is the person who started it, or the owner where a schedule, an application or the owner's own key did (S2-2, C-22).
    `conversation` is the id that its starter chose, of one of the agent's conversations; "" where it belongs to none.
    """

    user: str
    owner: str
    workspace: str
    agent: str
    task: str
    execution: str
    conversation: str = ""
