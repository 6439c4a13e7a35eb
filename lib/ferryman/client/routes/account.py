"""The owner: who asks, what was spent, and the kill switch."""

from __future__ import annotations

from ferryman.client import answers
from ferryman.client.request import ApiRequest, build_path, get, read_as


def set_halt(*, on: bool) -> ApiRequest[answers.HaltJson]:
    """Set the owner's kill switch; return what stops their executions."""
    return ApiRequest(method="PUT" if on else "DELETE", path=build_path("halt"), read=read_as(answers.HaltJson))


def get_ledger(*, month: str | None = None, by: str | None = None) -> ApiRequest[answers.StatementJson]:
    """Return a month's statement by task, agent, person or workspace; without a month, this one's."""
    return get(build_path("ledger"), read_as(answers.StatementJson), month=month or None, by=by or None)


def get_budget() -> ApiRequest[answers.BudgetListJson]:
    """Return what is used and reserved of this month's caps, row by row."""
    return get(build_path("budget"), read_as(answers.BudgetListJson))


def get_me() -> ApiRequest[answers.MeJson]:
    """Return the owner of the API key, with their plan and balance."""
    return get(build_path("me"), read_as(answers.MeJson))
