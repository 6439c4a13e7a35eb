"""An agent: to be stored, to be changed, as it is stored, and what it may call."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from ferryman.domain.approvals.summary import AskingMode
from ferryman.domain.tools.correction import ArgumentRole
from ferryman.domain.tools.names import LISTED_MAX
from ferryman.domain.workspaces.agent import Titles
from ferryman.domain.workspaces.effective_policy import PolicyLevel
from ferryman.serving.api.shapes.record import ToolSettingsResponse
from ferryman.serving.api.shapes.rule import ApprovalRuleResponse, Rules
from ferryman.serving.api.shapes.shape import Amount, Credits, ListPage, RequestShape, ResponseShape

ToolNames = Annotated[
    tuple[StrictStr, ...],
    Field(
        max_length=LISTED_MAX,
        description="The tools that it may call, with or without the prefix orchestrator__; an empty list allows every tool",
    ),
]


class FlowCorrectionRequest(RequestShape):
    """What the owner says against the flow signature that was derived for a tool; what is left out stays as it was derived."""

    changes: StrictBool | None = Field(default=None, description="Whether it changes something")
    sends: StrictBool | None = Field(default=None, description="Whether data leaves to where its arguments say")
    destroys: StrictBool | None = Field(default=None, description="Whether it takes something away")
    reads_people: StrictBool | None = Field(default=None, description="Whether people alone write what it reads, as contacts")
    roles: dict[StrictStr, ArgumentRole] = Field(
        default_factory=dict,
        description="By names of arguments. decides: where the effect goes; content: what others read, its links decide; "
        "detail: how or when, its links decide; free: nothing in it decides",
    )


class ToolSettingsRequest(RequestShape):
    """What the agent's calls of one tool are held to, below what the plan and the tool allow."""

    calls_max: StrictInt | None = Field(default=None, description="How many calls of it an execution may make")
    timeout_s: StrictFloat | StrictInt | None = Field(default=None, description="How many seconds a call of it may take")
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="Arguments that every call has; the model is not shown them and cannot change them"
    )
    flow: FlowCorrectionRequest | None = Field(
        default=None, description="Which of its arguments decide where an effect goes, where the derivation is wrong"
    )


EnabledTools = Annotated[
    tuple[StrictStr, ...] | None,
    Field(description="Of its tools, those that conversations with it have; null: all of them, an empty list: none"),
]
TitlesFrom = Annotated[
    Titles,
    Field(
        description="Where a conversation that nobody names has its title from; first_line: its first message, "
        "model: a short execution after its first complete answer"
    ),
]
Settings = Annotated[dict[str, ToolSettingsRequest], Field(description="By the names of tools")]


class AgentChange(RequestShape):
    """What is to change in an agent; a field that is left out stays as it is."""

    name: StrictStr = ""
    description: StrictStr = ""
    system_prompt: StrictStr = Field(default="", description="Comes before that of the task, and may use the same variables")
    model: StrictStr | None = Field(default=None, description="The model of its tasks that name none; null: each names one")
    allowed_tools: ToolNames = ()
    tool_settings: Settings = Field(default_factory=dict)
    max_credits_month: Amount | None = Field(default=None, description="Credits in a month (UTC); null: no limit of its own")
    conversation_credits_max: Amount | None = Field(
        default=None, description="Credits of each conversation in a month (UTC); null: as the workspace says"
    )
    tools_enabled: StrictBool = Field(default=True, description="Whether conversations with it have tools")
    enabled_tools: EnabledTools = None
    approvals: Rules = ()
    titles: TitlesFrom = Titles.FIRST_LINE


class NewAgent(AgentChange):
    """An agent to be stored. With a `template`, a field that is left out is the template's; without one, a name is needed."""

    template: StrictStr | None = Field(default=None, description="The id of a template: manager, wally or eve")


class AgentResponse(ResponseShape):
    """An agent as it is stored."""

    agent_id: str = Field(validation_alias="id")
    workspace_id: str = Field(validation_alias="workspace")
    name: str
    description: str
    system_prompt: str
    model: str | None
    allowed_tools: tuple[str, ...]
    tool_settings: dict[str, ToolSettingsResponse]
    max_credits_month: Credits | None
    conversation_credits_max: Credits | None
    tools_enabled: bool
    enabled_tools: tuple[str, ...] | None
    approvals: tuple[ApprovalRuleResponse, ...]
    titles: Titles
    template: str | None = Field(description="The template that it was made from")
    is_default: bool = Field(description="Whether it is the workspace's default one, which is neither archived nor deleted")
    archived: bool = Field(description="Whether it is archived: none of its tasks is started")
    created_at: datetime
    updated_at: datetime


class AgentList(ListPage):
    """A page of a workspace's agents, by id."""

    agents: tuple[AgentResponse, ...]


class FlowSignatureResponse(ResponseShape):
    """What a call of a tool may do, and which of its arguments decide where that goes, as the owner has corrected it.

    One whose `method` is safe, as GET, changes nothing, unless the owner says that it does.
    """

    changes: bool = Field(description="Whether it changes something")
    sends: bool = Field(description="Whether data leaves to where its arguments say, also where it only reads")
    destroys: bool = Field(description="Whether it takes something away")
    reads_people: bool = Field(description="Whether people alone write what it reads")
    roles: dict[str, ArgumentRole] = Field(description="By names of arguments; one that is not listed decides")
    fixed: tuple[str, ...] = Field(
        description="The arguments that the agent's settings fix: nothing that was read changes them"
    )
    corrected: bool = Field(description="Whether the owner has said something against what was derived")


class PolicyRowResponse(ResponseShape):
    """Whether one tool may be called, and which levels take it away, the innermost first; none where it may be."""

    tool: str
    allowed: bool
    taken_by: tuple[PolicyLevel, ...]
    reason: str = Field(description="Why each of these levels takes it away")
    asks: AskingMode = Field(
        description="Whether its calls wait for a person: always, when_untrusted, never; depends: on host, method or amount"
    )
    flow: FlowSignatureResponse | None = Field(description="Null for a tool that cannot be called")


class AgentPolicy(ListPage):
    """A page of the effective policy of an agent, by the names of tools. Without a task, it is what any task could use."""

    agent_id: str
    task_id: str | None
    tools: tuple[PolicyRowResponse, ...]
