"""A record: everything that is stored of an execution, as one document without a sealed byte in it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from ferryman.domain.owners.cap import CapKind
from ferryman.domain.records import document
from ferryman.domain.records.record import Record
from ferryman.domain.tools.correction import ArgumentRole
from ferryman.serving.api.shapes import call, execution
from ferryman.serving.api.shapes.plan import PlanResponse
from ferryman.serving.api.shapes.rule import ApprovalRulesResponse
from ferryman.serving.api.shapes.shape import Credits, ResponseShape

FORMAT: Literal["ferryman.record/2"] = "ferryman.record/2"


class SummaryPlanResponse(ResponseShape):
    """The first `count` messages of a history, which the first turn summarizes; the conversation's message `through` ends
    them."""

    count: int
    through: int


class OpeningResponse(ResponseShape):
    """What every model call of the execution consists of. `price` is in US dollars for a million tokens, by kind of token.

    Of an answer in a conversation, `history` are the messages before `prompt`, and `questions` the numbers of those that people
    wrote here; with a `summary` the first turn makes one of some of them. `label` is that of all that the model reads at first.
    What is empty is left out, and so is the label where people alone wrote all of it. `is_prompt_foreign` tells that the prompt
    came through an MCP client; others have no such member.
    """

    model: str
    system: str
    prompt: str
    tools: tuple[dict[str, Any], ...]
    max_tokens: int
    temperature: float | None
    max_iterations: int
    max_credits: Credits
    started_at: datetime
    price: dict[str, str]
    timeout_s: float = Field(alias="patience_s")
    history: tuple[dict[str, Any], ...] = ()
    questions: tuple[int, ...] = ()
    label: call.FlowLabelResponse | None = None
    summary: SummaryPlanResponse | None = None
    is_prompt_foreign: bool = False


class ServiceHeadersResponse(ResponseShape):
    """The header `names` that the model may set in calls of the hosts that the patterns `domains` cover."""

    domains: tuple[str, ...]
    names: tuple[str, ...]


class CapResponse(ResponseShape):
    """The most credits that what `kind` and `id` name may use in a month (UTC).

    A person's `id` is that of the workspace, a slash, and the person's; a conversation's is that of the agent, a slash, and the
    conversation's, and `set_by` is who sets its limit, the agent or the workspace.
    """

    kind: CapKind
    id: str
    credits: Credits
    set_by: CapKind | None = None


class ToolLimitsResponse(ResponseShape):
    """The lists of tools of the agent, the workspace and the plan. An empty one allows every tool."""

    agent: tuple[str, ...]
    workspace: tuple[str, ...]
    plan: tuple[str, ...]


class FlowCorrectionResponse(ResponseShape):
    """What the owner says against the flow signature that was derived for a tool. Null: as it was derived."""

    changes: bool | None
    sends: bool | None
    destroys: bool | None
    reads_people: bool | None
    roles: dict[str, ArgumentRole]


class ToolSettingsResponse(ResponseShape):
    """An agent's settings of one tool. Null: as the plan and the tool allow. The model cannot change fixed `arguments`."""

    calls_max: int | None = Field(description="How many calls of it an execution may make")
    timeout_s: float | None = Field(description="How many seconds a call of it may take")
    arguments: dict[str, Any] = Field(description="Arguments that every call has, which the model is not shown")
    flow: FlowCorrectionResponse | None = Field(
        default=None, description="Which arguments decide where an effect goes, against what was derived"
    )


class PolicyResponse(ResponseShape):
    """What the execution was allowed to do, frozen when it began; without `caps`, `remote`, `limits`, `settings` or
    `approvals` it has no such member.

    `former` tells that credentials of the task were replaced or deleted within the day before. `tools` are the built-in tools
    that task, agent, workspace and plan all allow, `limits` the lists of the last three.
    """

    owner: str
    task: str
    plan: PlanResponse
    tools: tuple[str, ...]
    integrations: tuple[str, ...]
    domains: tuple[str, ...]
    webhook: bool
    webhook_urls: tuple[str, ...]
    webhook_match: str
    credentials: tuple[str, ...]
    former: bool
    caps: tuple[CapResponse, ...] = ()
    declared: dict[str, str]
    remote: dict[str, str] = Field(default_factory=dict)
    headers: tuple[ServiceHeadersResponse, ...]
    limits: ToolLimitsResponse | None = None
    settings: dict[str, ToolSettingsResponse] = Field(default_factory=dict)
    approvals: ApprovalRulesResponse | None = None


class StepResponse(ResponseShape):
    """One turn: the model's output, in its scanned form.

    `prompt_digest` is the SHA-256 of the prompt, `slice` the delivery that committed the turn.
    """

    number: int
    content: tuple[dict[str, Any], ...]
    stop_reason: str
    usage: execution.TokenCounts
    credits: Credits
    first_call: int
    calls: int
    event: int
    at: datetime
    slice: int
    prompt_digest: str
    summarizes: int = Field(default=0, description="Messages of the history that the text replaces; of a summary alone")


class EventResponse(ResponseShape):
    """An event as watchers received it."""

    number: int
    kind: str
    at: datetime
    body: dict[str, Any]


class PostingResponse(ResponseShape):
    """Credits added to an account, or taken from it when negative."""

    account: str
    credits: Credits
    bytes: int = Field(default=0, description="Of stored files, read or written; left out where there are none")


class EntryResponse(ResponseShape):
    """A movement of credits; its postings sum to zero."""

    id: str
    at: datetime
    postings: tuple[PostingResponse, ...]


class RecordedExecution(execution.DetailedExecution):
    """The execution as receipts cover it: what it has where it names none of its place is left out.

    `waited_s` is for how many seconds it waited for people, which its time limit does not count; left out for none.
    """

    workspace_id: str = ""
    agent_id: str = ""
    person_id: str | None = None
    conversation_id: str | None = None
    cancelled_by: str | None = None
    answer: int | None = None
    question: int | None = None
    waited_s: float | None = None


class RecordResponse(ResponseShape):
    """The full account of an execution; `opening` and `policy` are null where it ended before it was opened."""

    format: Literal["ferryman.record/2"]
    execution: RecordedExecution
    opening: OpeningResponse | None
    policy: PolicyResponse | None
    steps: tuple[StepResponse, ...]
    calls: tuple[call.CallResponse, ...]
    events: tuple[EventResponse, ...]
    ledger: tuple[EntryResponse, ...]


def to_response(record: Record) -> RecordResponse:
    """Return the record as the API answers it."""
    return RecordResponse.model_validate({"format": FORMAT, **document.serialize_record(record)})
