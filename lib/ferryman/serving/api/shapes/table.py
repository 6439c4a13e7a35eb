"""The tables that any owner may read: integrations, tools, plans, models."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ferryman.billing.prices import ModelPrice
from ferryman.domain.credentials.credential import AuthType
from ferryman.serving.api.shapes.shape import Credits, Dollars, ListPage, ResponseShape


class ConsentResponse(ResponseShape):
    """How a service is connected by a person's consent. `client_id` is the deployment's own; null: bring one.

    `redirect_uris` are the service's own, beside loopback addresses. `issuer` is what `iss` in an authorization response is
    compared with, where there is one; with `sends_iss` there always is one.
    """

    authorize_url: str
    token_url: str
    scopes: tuple[str, ...]
    client_id: str | None
    redirect_uris: tuple[str, ...]
    issuer: str | None
    sends_iss: bool


class IntegrationResponse(ResponseShape):
    """A service of the catalog. `headers` are those that a model may set for it, beside the ones allowed everywhere."""

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
    headers: tuple[str, ...]
    docs_url: str
    oauth: ConsentResponse | None


class IntegrationList(ListPage):
    """A page of the catalog, by id."""

    integrations: tuple[IntegrationResponse, ...]


class ToolResponse(ResponseShape):
    """A tool as the model is shown it."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ToolList(ListPage):
    """A page of the tools that a task may enable, by name."""

    tools: tuple[ToolResponse, ...]


class PlanResponse(ResponseShape):
    """The limits of a plan; a credit is worth $0.001."""

    name: str
    calls_per_execution: int
    calls_per_minute: int
    response_bytes: int
    iterations: int
    credits_per_execution: Credits
    credits_per_month: Credits
    schedule_minutes: int
    executions_running: int = Field(description="Executions of an owner that run at once; the others wait")
    executions_queued: int = Field(description="Executions of an owner that wait for their first turn; one more is refused")
    streams: int = Field(description="Streams of events that an owner has open at once; one more is refused")


class PlanList(ListPage):
    """A page of the plans that may run tasks, by name."""

    plans: tuple[PlanResponse, ...]


class ModelResponse(ResponseShape):
    """A model that has a price. `scripted` means all of `scripted/NAME`."""

    name: str
    input_usd_per_million: Dollars = Field(description="US dollars for a million tokens it reads")
    output_usd_per_million: Dollars = Field(description="US dollars for a million tokens it writes")


class ModelList(ListPage):
    """A page of the models that a task may name, by name."""

    models: tuple[ModelResponse, ...]


class Health(ResponseShape):
    """That the API answers."""

    status: str = "ok"


class Welcome(ResponseShape):
    """What is served here. `reference` is a page for people, `openapi` the document that clients are generated from."""

    name: str
    version: str
    about: str
    reference: str = "/docs"
    openapi: str = "/openapi.json"


def to_model(name: str, price: ModelPrice) -> ModelResponse:
    """Return a model and its price as they are answered."""
    return ModelResponse(name=name, input_usd_per_million=price.input, output_usd_per_million=price.output)
