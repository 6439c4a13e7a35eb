"""The scenarios, by kind."""

from __future__ import annotations

from tests.campaigns.hostile.scenario import Scenario
from tests.campaigns.hostile.scenarios import (
    agents,
    answers,
    budget,
    custom,
    documents,
    exfiltration,
    finding,
    former,
    greed,
    headers,
    local,
    machine,
    neighbours,
    people,
    pieces,
    policy,
    routed,
    smuggling,
    thinking,
    tokens,
    uploads,
    worst,
)

SCENARIOS: tuple[Scenario, ...] = (
    *exfiltration.SCENARIOS,
    *pieces.SCENARIOS,
    *policy.SCENARIOS,
    *headers.SCENARIOS,
    *answers.SCENARIOS,
    *budget.SCENARIOS,
    *neighbours.SCENARIOS,
    *people.SCENARIOS,
    *agents.SCENARIOS,
    *greed.SCENARIOS,
    *local.SCENARIOS,
    *routed.SCENARIOS,
    *machine.SCENARIOS,
    *smuggling.SCENARIOS,
    *thinking.SCENARIOS,
    *documents.SCENARIOS,
    *tokens.SCENARIOS,
    *uploads.SCENARIOS,
    *former.SCENARIOS,
    *custom.SCENARIOS,
    *finding.SCENARIOS,
    *worst.SCENARIOS,
)
