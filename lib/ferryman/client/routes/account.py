"""The owner: who asks, what was spent, and the kill switch."""

from __future__ import annotations

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, get, read_as, read_page


def set_halt(*, on: bool) -> ApiRequest[answers.HaltJson]:
    """Set the owner's kill switch; return what stops their executions."""
    return ApiRequest(method="PUT" if on else "DELETE", path=build_path("halt"), read=read_as(answers.HaltJson))


def get_ledger(*, month: str | None = None, by: str | None = None) -> ApiRequest[answers.StatementJson]:
    """Return a month's statement by task, agent, person or workspace; without a month, this one's."""
    return get(build_path("ledger"), read_as(answers.StatementJson), month=month or None, by=by or None)


def get_usage(
    *, since: str | None = None, until: str | None = None, by: str | None = None
) -> ApiRequest[answers.UsageReportJson]:
    """Return what the workspace used from `since` to `until`, days as 2026-11-23, by tool, model, agent or day; without days,
    in the last 30."""
    return get(build_path("usage"), read_as(answers.UsageReportJson), since=since or None, until=until or None, by=by or None)


def get_budget() -> ApiRequest[answers.BudgetListJson]:
    """Return what is used and reserved of this month's caps, row by row."""
    return get(build_path("budget"), read_as(answers.BudgetListJson))


def list_alerts(
    *, of: str | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.AlertJson]]:
    """Return a page of the alerts of the workspace's caps, the newest first; `of` "plan": those of the owner's plan."""
    return get(build_path("alerts"), read_page("alerts"), of=of or None, limit=limit, cursor=cursor)


def get_me() -> ApiRequest[answers.MeJson]:
    """Return the owner of the API key, with their plan and balance."""
    return get(build_path("me"), read_as(answers.MeJson))
