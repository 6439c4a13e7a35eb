"""The scenarios: enough of them, and each another."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.campaigns.hostile.laundering.campaign import SCENARIOS as LAUNDERING
from tests.campaigns.hostile.scenario import Scenario
from tests.campaigns.hostile.scenario_run import list_texts, prepare_run
from tests.campaigns.hostile.scenarios import SCENARIOS
from tests.campaigns.hostile.spelling import fill

SECURITY = Path(__file__).parents[3] / "docs" / "security.md"


def test_the_security_page_says_how_many_there_are() -> None:
    assert f"`make hostile` runs {len(SCENARIOS) + len(LAUNDERING):,} scenarios" in SECURITY.read_text()


def test_no_scenario_is_another_under_a_second_name() -> None:
    names = Counter(scenario.name for scenario in SCENARIOS)
    assert [name for name, count in names.items() if count > 1] == []
    contents = Counter(
        repr([getattr(scenario, field) for field in Scenario.__slots__ if field != "name"]) for scenario in SCENARIOS
    )
    assert [content[:200] for content, count in contents.items() if count > 1] == []


def test_every_text_of_a_scenario_can_be_written_out() -> None:
    for scenario in SCENARIOS:
        words = prepare_run(scenario).words
        fill([scenario.turns, dict(scenario.task), list(scenario.names), list(scenario.reach)], words)
        fill([list_texts(answer) for answer in scenario.answers.values()], words)
