"""The pages: a module for each noun, with its routes."""

from __future__ import annotations

from ferryman.serving.console.pages import (
    approvals,
    audit,
    conversation,
    conversations,
    execution,
    executions,
    ledger,
    overview,
    people,
    sessions,
    start,
    tasks,
    workspaces,
)
from ferryman.serving.console.routing import ConsoleRoute

ROUTES: tuple[ConsoleRoute, ...] = (
    *approvals.ROUTES,
    *audit.ROUTES,
    *conversation.ROUTES,
    *conversations.ROUTES,
    *executions.ROUTES,
    *execution.ROUTES,
    *ledger.ROUTES,
    *overview.ROUTES,
    *people.ROUTES,
    *sessions.ROUTES,
    *start.ROUTES,
    *tasks.ROUTES,
    *workspaces.ROUTES,
)
