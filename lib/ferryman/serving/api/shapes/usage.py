"""Usage: what a workspace used, by tool, model, agent or day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from pydantic import Field

from ferryman.domain.metering.report import UsageGrouping
from ferryman.serving.api.shapes.execution import TokenCounts
from ferryman.serving.api.shapes.shape import Credits, ResponseShape


class UsageCountsResponse(ResponseShape):
    """Turns, calls, tokens and credits. `usage` is what the provider counted; the other tokens are estimated shares of it, by
    characters, which sum up to it."""

    turns: int = Field(description="Replies of models")
    usage: TokenCounts = Field(description="0 by tool: a provider counts a turn as a whole")
    definition_tokens: int = Field(description="Of the definitions of tools")
    result_tokens: int = Field(description="Of the results of calls, in every prompt that they were in")
    call_tokens: int = Field(description="Of the calls that the model wrote")
    text_tokens: int = Field(description="Of everything else")
    calls: int
    failures: Mapping[str, int] = Field(description="The calls that failed, by code")
    latencies: tuple[int, ...] = Field(description="Calls by duration, in the buckets of `latency_bounds_ms` and one more")
    llm_tokens: Credits
    api_call_fee: Credits
    embedding: Credits
    storage_unmetered: int = Field(description="Bytes of stored files that were read or written, which cost nothing")
    credits: Credits = Field(description="All credits; by tool the fees alone, since tokens are paid for by turn")


class UsageRowResponse(ResponseShape):
    """What was used under one name. Quantiles are the bounds of their buckets; null: there is no call, or none so fast."""

    by: UsageGrouping
    name: str = Field(
        description="A tool, a model, an agent or a day; (text): of no tool, (not called): definitions of tools that were not "
        "called, (unknown): calls of tools that the task does not have, (other): all further ones"
    )
    counts: UsageCountsResponse
    failed: int
    p50_ms: int | None
    p95_ms: int | None
    calls_by_day: tuple[int, ...] = Field(description="For each day from `since` to `until`")
    tokens_by_day: tuple[int, ...] = Field(description="Likewise")


class UsageReport(ResponseShape):
    """What the workspace used from `since` to `until`, both included, days in UTC: days in their order, others the dearest
    first. Some seconds pass before it is in here."""

    since: date
    until: date
    by: UsageGrouping
    rows: tuple[UsageRowResponse, ...]
    total: UsageCountsResponse
    latency_bounds_ms: tuple[int, ...] = Field(description="Upper bounds of the buckets, in milliseconds; the last has none")
