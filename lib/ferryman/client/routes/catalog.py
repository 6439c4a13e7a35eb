"""What there is for every task: services, tools, templates of agents, plans, models."""

from __future__ import annotations

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, get, read_page


def list_integrations(
    *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.IntegrationJson]]:
    """Return a page of the services that a task may be approved for."""
    return get(build_path("integrations"), read_page("integrations"), limit=limit, cursor=cursor)


def list_tools(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.ToolJson]]:
    """Return a page of the tools that any task may enable."""
    return get(build_path("tools"), read_page("tools"), limit=limit, cursor=cursor)


def list_agent_templates(
    *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.AgentTemplateJson]]:
    """Return a page of the templates that agents are made from."""
    return get(build_path("agent-templates"), read_page("templates"), limit=limit, cursor=cursor)


def list_plans(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.PlanJson]]:
    """Return a page of the plans and their limits."""
    return get(build_path("plans"), read_page("plans"), limit=limit, cursor=cursor)


def list_models(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.ModelJson]]:
    """Return a page of the models that a task may name, and their prices."""
    return get(build_path("models"), read_page("models"), limit=limit, cursor=cursor)
