"""The tables anyone may read: integrations, tools, plans, models; and who is asking."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ferryman.billing.prices import Price
from ferryman.domain.credential import AuthType
from ferryman.domain.integration import Integration, OAuth
from ferryman.domain.plan import Plan
from ferryman.serving.api.shapes.shape import Answered, Credits, Dollars


class ConsentShown(Answered):
    """How a service is connected by a person's consent. `client_id` is the house's own; null: bring one."""

    authorize_url: str
    token_url: str
    scopes: tuple[str, ...]
    client_id: str | None
    redirect_uris: tuple[str, ...]


class IntegrationShown(Answered):
    """A service of the catalog."""

    id: str
    name: str
    description: str
    category: str
    status: str = "approved"
    allowed_domains: tuple[str, ...]
    default_auth_type: AuthType | None
    default_auth_header: str | None
    default_auth_param: str | None
    credential_key_template: str | None
    docs_url: str
    oauth: ConsentShown | None


class IntegrationList(Answered):
    """The catalog by id."""

    integrations: tuple[IntegrationShown, ...]


class ToolShown(Answered):
    """A tool as the model is shown it."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ToolList(Answered):
    """Every tool a task may enable."""

    tools: tuple[ToolShown, ...]


class PlanShown(Answered):
    """The limits of a plan; a credit is worth $0.001."""

    name: str
    calls_per_execution: int
    calls_per_minute: int
    response_bytes: int
    iterations: int
    credits_per_execution: Credits
    credits_per_month: Credits
    schedule_minutes: int


class PlanList(Answered):
    """Every plan that may run tasks."""

    plans: tuple[PlanShown, ...]


class ModelShown(Answered):
    """A model that has a price. `scripted` stands for all of `scripted/NAME`."""

    name: str
    input_usd_per_million: Dollars = Field(description="US dollars for a million tokens it reads")
    output_usd_per_million: Dollars = Field(description="US dollars for a million tokens it writes")


class ModelList(Answered):
    """Every model a task may name."""

    models: tuple[ModelShown, ...]


class Me(Answered):
    """Who is asking, and what is left of the month's credits. `limits` is null on a plan that may not run tasks;
    `halted` says what stops all your executions, if anything does."""

    owner: str
    plan: str
    month: str
    credits_used: Credits
    credits_reserved: Credits
    credits_left: Credits
    halted: str | None
    limits: PlanShown | None


class Halt(Answered):
    """What stops your executions, in words; null when nothing does."""

    halted: str | None


class Health(Answered):
    """That the API answers."""

    status: str = "ok"


def integration(of: Integration) -> IntegrationShown:
    """`of` as it is answered."""
    plain = {name: getattr(of, name) for name in IntegrationShown.model_fields if name not in ("status", "oauth")}
    return IntegrationShown(**plain, oauth=None if of.oauth is None else consent(of.oauth))


def consent(of: OAuth) -> ConsentShown:
    """`of` as it is answered."""
    return ConsentShown(**{name: getattr(of, name) for name in ConsentShown.model_fields})


def plan(of: Plan) -> PlanShown:
    """`of` as it is answered."""
    return PlanShown(**{name: getattr(of, name) for name in PlanShown.model_fields})


def model(name: str, price: Price) -> ModelShown:
    """A model and its price as they are answered."""
    return ModelShown(name=name, input_usd_per_million=price.input, output_usd_per_million=price.output)
