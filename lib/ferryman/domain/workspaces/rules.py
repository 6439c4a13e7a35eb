"""The rules that a workspace meets before it is stored, and how it is changed."""

from __future__ import annotations

from collections.abc import Iterator

from ferryman.domain.approvals.rule_problems import find_rule_problems
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.owners.plan import Plan
from ferryman.domain.problem import Problem
from ferryman.domain.tools.names import find_list_problems
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.workspace import CREDIT_LIMITS, NAME_CHARACTERS_MAX, Workspace

RETENTION_DAYS_MAX = 99_999
"""Where the deployment keeps everything for ever: as many as its own setting may say."""


def find_workspace_problems(workspace: Workspace, *, plan: Plan | None, retention_days: int) -> list[Problem]:
    """Return the problems that keep `workspace` from being stored; `plan` is its owner's, which limits its credits.

    `retention_days` are those of the deployment, which keeps nothing longer; 0: for ever.

    Tools may be named that no catalog has: a task may declare tools of its own.
    """
    return [
        *find_name_problems(workspace.name),
        *find_list_problems("allowed_tools", workspace.allowed_tools),
        *find_rule_problems(workspace.approvals),
        *find_credit_problems(workspace, plan),
        *_find_url_problems(workspace.alert_url),
        *find_retention_problems(workspace.retention_days, deployment_days=retention_days),
    ]


def find_name_problems(name: str) -> Iterator[Problem]:
    """Yield the problems of a name that people are shown: of a workspace, say."""
    if not name.strip():
        yield Problem("name", "must not be empty")
    if len(name) > NAME_CHARACTERS_MAX:
        yield Problem("name", f"must be at most {NAME_CHARACTERS_MAX} characters, is {len(name)}")
    if not name.isprintable():
        yield Problem("name", "must be printable: without line breaks, control characters and lone surrogates")


def find_credit_problems(holder: Workspace | Agent, plan: Plan | None) -> Iterator[Problem]:
    """Yield the problems of the limits of credits that a workspace or an agent sets; `plan` is its owner's."""
    for name in CREDIT_LIMITS:
        limit = getattr(holder, name)
        if limit is None:
            continue
        if limit <= 0:
            yield Problem(name, "must be above 0; null for no limit")
        elif plan is not None and limit > plan.credits_per_month:
            yield Problem(name, f"must be at most {plan.credits_per_month} on plan {plan.name}")


def _find_url_problems(url: str | None) -> Iterator[Problem]:
    if url is None:
        return
    try:
        parse_url(url)
    except InvalidUrlError as error:
        yield Problem("alert_url", str(error))


def find_retention_problems(days: int | None, *, deployment_days: int) -> Iterator[Problem]:
    """Yield the problem of a workspace's retention: None, or days from 1 to the deployment's, which are 0 for ever."""
    most = deployment_days or RETENTION_DAYS_MAX
    if days is not None and not 1 <= days <= most:
        why = ", as this deployment keeps nothing longer" if deployment_days else ""
        yield Problem("retention_days", f"must be 1 to {most} days{why}; null for as long as the deployment keeps any")
