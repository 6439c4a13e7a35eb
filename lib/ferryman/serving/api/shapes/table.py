"""The tables that any owner may read: integrations, tools, templates of agents, plans, models."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import Field

from ferryman.billing.prices import ModelPrice
from ferryman.catalog.tools import build_icon_url
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.expense import Expense
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.tools.agent import AgentRole, AgentTemplate
from ferryman.domain.tools.tool import Repeatable, Tool, ToolCategory, ToolListing
from ferryman.serving.api.shapes.plan import PlanResponse
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


class ToolPolicyResponse(ResponseShape):
    """What the calls of a tool may do. Null means: what the plan or the deployment allows; for `decided_by`, every argument."""

    kind: str = Field(description="What executes its calls")
    function: str = Field(description="The cloud function that does")
    timeout_s: float | None
    argument_characters_max: int | None = Field(description="To how many characters a text among the arguments is cut")
    argument_items_max: int | None = Field(description="To how many items a list among the arguments is cut")
    response_bytes_max: int | None = Field(description="How much of an answer is read")
    result_characters_max: int | None = Field(description="How much of a result the model is shown")
    network: NetworkPolicy = Field(description="Which hosts its calls may reach")
    fee: Credits = Field(description="For a call that used a credential")
    expense: Expense = Field(description="The account of the ledger that a call is entered in")
    counts: bool = Field(description="Whether a call counts against the plan's calls")
    repeatable: Repeatable = Field(description="Whether a call whose outcome is unknown is made again")
    parallel_safe: bool = Field(description="Whether a call may run beside others of its turn")
    wrapped: bool = Field(description="Whether results are framed for the model, as content of others")
    needs_confirmation: bool = Field(description="Whether a person has to agree to each call")
    reads: tuple[str, ...]
    changes: tuple[str, ...]
    decided_by: tuple[str, ...] | None = Field(description="The arguments that decide where the effect of a call goes")


class ToolResponse(ResponseShape):
    """A tool of the catalog. One that is not implemented has neither schema nor policy, and no model is offered it."""

    name: str
    display_name: str
    description: str
    category: str
    icon_url: str = Field(description="A picture, all of it in the URL")
    implemented: bool
    reason: str | None = Field(description="Why it is not implemented; null for a tool that can be called")
    input_schema: dict[str, Any] | None
    policy: ToolPolicyResponse | None


class ToolCategoryResponse(ResponseShape):
    """What tools are grouped under."""

    id: str
    name: str
    icon_url: str
    description: str


class IntegrationList(ListPage):
    """A page of the catalog, by id. Its first page has the categories of tools and all tools, too; later ones have none."""

    integrations: tuple[IntegrationResponse, ...]
    categories: tuple[ToolCategoryResponse, ...]
    tools: tuple[ToolResponse, ...]


class ToolList(ListPage):
    """A page of the catalog's tools, by name. A task may enable those that are implemented."""

    tools: tuple[ToolResponse, ...]


class AgentTemplateResponse(ResponseShape):
    """A template of the catalog, which agents are made from. An empty `allowed_tools` allows every tool."""

    id: str
    name: str
    role: AgentRole
    description: str
    icon_url: str = Field(description="A picture, all of it in the URL")
    system_prompt: str
    waits_for: str | None = Field(description="What of it does not work yet; null: all does")
    allowed_tools: tuple[str, ...]


class AgentTemplateList(ListPage):
    """A page of the catalog's templates of agents, by id."""

    templates: tuple[AgentTemplateResponse, ...]


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


def to_tool(tool: ToolListing) -> ToolResponse:
    """Return a tool of the catalog as it is answered."""
    names = ("name", "display_name", "description", "category", "implemented", "reason")
    response = {name: getattr(tool, name) for name in names} | {"icon_url": build_icon_url(tool.icon)}
    if not isinstance(tool, Tool):
        return ToolResponse(**response, input_schema=None, policy=None)
    policy = ToolPolicyResponse(kind=tool.kind, function=tool.function, **asdict(tool.policy))
    return ToolResponse(**response, input_schema=dict(tool.schema), policy=policy)


def to_category(category: ToolCategory) -> ToolCategoryResponse:
    """Return a category of tools as it is answered."""
    icon_url = build_icon_url(category.icon)
    return ToolCategoryResponse(id=category.id, name=category.name, icon_url=icon_url, description=category.description)


def to_template(template: AgentTemplate) -> AgentTemplateResponse:
    """Return a template of an agent as it is answered."""
    names = ("id", "name", "role", "description", "system_prompt", "waits_for", "allowed_tools")
    icon_url = build_icon_url(template.icon)
    return AgentTemplateResponse(**{name: getattr(template, name) for name in names}, icon_url=icon_url)


def to_model(name: str, price: ModelPrice) -> ModelResponse:
    """Return a model and its price as they are answered."""
    return ModelResponse(name=name, input_usd_per_million=price.input, output_usd_per_million=price.output)
