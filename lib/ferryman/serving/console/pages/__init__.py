"""The pages: a module for each noun, with its routes."""

from __future__ import annotations

from ferryman.serving.console.pages import (
    agents,
    approvals,
    audit,
    consents,
    conversation,
    conversations,
    credentials,
    execution,
    executions,
    files,
    halt,
    ledger,
    message,
    overview,
    people,
    servers,
    sessions,
    start,
    tasks,
    workspaces,
)
from ferryman.serving.console.routing import ConsoleRoute

ROUTES: tuple[ConsoleRoute, ...] = (
    *agents.ROUTES,
    *approvals.ROUTES,
    *audit.ROUTES,
    *consents.ROUTES,
    *conversation.ROUTES,
    *conversations.ROUTES,
    *credentials.ROUTES,
    *executions.ROUTES,
    *files.ROUTES,
    *execution.ROUTES,
    *halt.ROUTES,
    *ledger.ROUTES,
    *message.ROUTES,
    *overview.ROUTES,
    *people.ROUTES,
    *servers.ROUTES,
    *sessions.ROUTES,
    *start.ROUTES,
    *tasks.ROUTES,
    *workspaces.ROUTES,
)
