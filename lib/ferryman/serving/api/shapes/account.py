"""An owner's account: who is asking, the kill switch, and a month's statement."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from ferryman.domain.credits.statement import Grouping
from ferryman.domain.workspaces.member import Right, Role
from ferryman.serving.api.shapes.plan import PlanResponse
from ferryman.serving.api.shapes.shape import Credits, ResponseShape


class Me(ResponseShape):
    """Who is asking, as what and where, and what is left of the month's credits. `limits` is null on a plan that may not run
    tasks; `halted` says what stops all your executions, if anything does."""

    owner: str
    workspace_id: str = Field(description="The workspace that the request acts in")
    person_id: str = Field(description="Empty: the owner")
    name: str = Field(description="What the person is called; empty: the owner")
    role: Role | None = Field(description="Null: the owner, who needs none")
    rights: tuple[Right, ...] = Field(description="What requests with this API key may do in the workspace")
    key_id: str = Field(description="The id of the API key; empty: the owner's own one")
    key_expires_at: datetime | None
    plan: str
    month: str
    credits_used: Credits = Field(description="By the owner; to anybody else, by the workspace")
    credits_reserved: Credits = Field(description="Likewise")
    credits_left: Credits | None = Field(description="Of the plan; to anybody else, of the workspace's limit, if any")
    halted: str | None
    limits: PlanResponse | None


class Halt(ResponseShape):
    """What stops your executions, in words; null when nothing does."""

    halted: str | None


class StatementLineResponse(ResponseShape):
    """What the executions of one task, agent, person or workspace cost in the month. `id` is "" for those that no person
    started."""

    id: str
    executions: int
    llm_tokens: Credits
    api_call_fees: Credits
    embedding: Credits = Field(description="Fees of calls for which vectors of texts are computed")
    storage_bytes: int = Field(description="Bytes of stored files that were read or written, which cost nothing")
    credits: Credits


class Statement(ResponseShape):
    """A month, the dearest line first. `sum_of_postings` is 0: what leaves one account enters another."""

    month: str
    by: Grouping
    lines: tuple[StatementLineResponse, ...]
    credits: Credits
    entries: int
    sum_of_postings: Credits
