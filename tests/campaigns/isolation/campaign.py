"""The campaign: who attempts what at whom, at the routes and at the tools, and what is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman.catalog.tools import FILES, PLATFORM, find_tool
from tests.campaigns.isolation.archives import import_file, list_archives
from tests.campaigns.isolation.attempts import COUNTERS, CURSOR, Attempt, draw_attempts, list_attempts
from tests.campaigns.isolation.belongings import TWIN, Belongings
from tests.campaigns.isolation.calls import ENDINGS, ask_for_ticket, list_calls, list_tickets, list_twin_calls, run_calls, start
from tests.campaigns.isolation.clients import list_client_attempts
from tests.campaigns.isolation.deployment import Answer, Deployment
from tests.campaigns.isolation.functions import Functions, TurnsModel
from tests.campaigns.isolation.relations import Relation
from tests.campaigns.isolation.surface import list_operations
from tests.campaigns.isolation.talks import list_talks, talk
from tests.campaigns.isolation.trial import Change, Place, Trial, change_nothing, prepare

GUESSES = 300
"""Attempts that the seed draws, besides one at every place of every route."""
SEED = 16
SHARED = (FILES, PLATFORM)
"""Kinds of tools that read and change what is the workspace's: nothing of it is one person's alone."""

USED = "a list, a counter or a limit, after the other has used tools and credits"


@dataclass(kw_only=True)
class Results:
    """The attempts that were made, how many of each relation and kind, and the findings of those that came to something."""

    attempts: list[str] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: dict[str, list[str]] = field(default_factory=dict)

    def add(self, relation: Relation, attempt: Attempt, findings: Sequence[str]) -> None:
        """Count an attempt, with what was found."""
        self.attempts.append(str(attempt))
        self.counts[relation.name, attempt.kind] += 1
        if findings:
            self.findings[f"{relation.name}: {attempt}"] = [*findings]

    def add_all(self, relation: Relation, trial: Trial, judged: Iterable[tuple[Any, ...]]) -> None:
        """Count attempts that were all made before the first is judged: the stores are compared once, for the first."""
        for number, (attempt, *answers) in enumerate(judged):
            findings = trial.judge(attempt, answers) if number == 0 else trial.judge_answers(attempt, answers)
            self.add(relation, attempt, findings)

    def join(self, other: Results) -> None:
        """Add those of another part of the campaign."""
        self.attempts += other.attempts
        self.counts += other.counts
        self.findings |= other.findings


async def run(
    relation: Relation,
    *,
    seed: int = SEED,
    guesses: int = GUESSES,
    only: str = "",
    change: Change = change_nothing,
    until_found: bool = False,
) -> Results:
    """Make the attempts of one relation at every route, and `guesses` others that the seed draws; or one kind `only`.

    `until_found` ends them with the first that came to something.
    """
    results = Results()
    async with prepare(relation, seed, change) as trial:
        cursors = (name.removeprefix(CURSOR) for name in trial.there.ids if name.startswith(CURSOR))
        listed = list_attempts(list_operations(trial.there.deployment.app.openapi()), paged=cursors)
        for attempt in draw_attempts([item for item in listed if not relation.allows(item)], seed, guesses):
            if only not in ("", attempt.kind):
                continue
            answers = [await send(place, attempt) for place in trial.places]
            results.add(relation, attempt, trial.judge(attempt, answers))
            if until_found and results.findings:
                return results
        for attempt in [item for item in list_client_attempts() if only in ("", item.kind) and not relation.allows(item)]:
            answers = [await send(place, attempt) for place in trial.places]
            results.add(relation, attempt, trial.judge(attempt, answers))
        for attempt in [item for item in list_archives() if only in ("", item.kind) and not relation.allows(item)]:
            answers = [await import_file(place.deployment, place.mine, place.fill(attempt)) for place in trial.places]
            results.add(relation, attempt, trial.judge(attempt, answers))
    return results


async def send(place: Place, attempt: Attempt) -> Answer:
    """Send an attempt at a route."""
    ready = place.fill(attempt)
    query = "&".join(f"{name}={value}" for name, value in ready.query.items())
    path = f"{ready.path}?{query}" if query else ready.path
    return await place.deployment.send(place.mine.caller, ready.method, path, body=ready.body, headers=ready.headers)


async def run_functions(relation: Relation, *, seed: int = SEED, only: str = "") -> Results:
    """Make the attempts of one relation at every tool, or those whose kind contains `only`.

    The other side has used the tools before: what a function keeps from call to call is the other's.
    """
    results, functions = Results(), dict[int, Functions]()

    async def use_tools(deployment: Deployment, theirs: Belongings) -> None:
        serving = functions[id(deployment)] = Functions(deployment=deployment)
        calls = [("api_call", {"method": "GET", "url": "https://api.github.com/1", "credential": theirs.ids["credential"]})]
        calls += [("save_preference", {"kind": "taste", "preference": theirs.word}), ("find_tools", {"query": theirs.word})]
        calls += [
            ("web_search_tool", {"query": f"ferry {theirs.word}"}),
            ("web_fetch", {"url": f"https://{theirs.word}.test/"}),
        ]
        calls += [("file_write", {"key": f"{theirs.word}.md", "content": f"a file of {theirs.word}"})]
        twin_calls = [(call.path, call.body) for call in list_twin_calls()]
        for task, turn in (("task", calls), (TWIN, twin_calls)):
            execution = await start(deployment, theirs, task)
            model = TurnsModel(turns=[turn], ending=f"Done, {theirs.word}.", clock=deployment.stage.clock)
            await serving.finish(theirs.caller, execution, model)

    async with prepare(relation, seed, settle=use_tools) as trial:
        for attempt in list_attempts(list_operations(trial.there.deployment.app.openapi()), paged=()):
            if attempt.kind == COUNTERS and not relation.allows(attempt) and only in USED:
                three = [await send(place, attempt) for place in trial.places]
                results.add(relation, replace(attempt, kind=USED), trial.judge(attempt, three))
        attempted = [call for call in list_calls() if not (relation.shares_workspace and find_tool(call.path).kind in SHARED)]
        for ending in ENDINGS:
            calls = [call for call in attempted if only in call.kind] if ending == ENDINGS[0] else []
            saying = Attempt(kind="a text that another's scanner would redact", method="SAY", path=ending)
            answers = [await _call_tools(place, functions, [*calls, saying]) for place in trial.places]
            results.add_all(relation, trial, zip([*calls, saying], *answers, strict=True))
        twins = [call for call in list_twin_calls() if only in call.kind]
        answers = [await _call_tools(place, functions, [*twins, saying], task=TWIN) for place in trial.places]
        results.add_all(relation, trial, zip(twins, *(results_of[:-1] for results_of in answers), strict=True))
        for attempt in [attempt for attempt in list_talks() if only in attempt.kind]:
            talks = [
                await talk(place.deployment, _get_functions(place, functions), place.mine, place.fill(attempt))
                for place in trial.places
            ]
            results.add(relation, attempt, trial.judge(attempt, talks))
        for attempt in [attempt for attempt in list_tickets() if only in attempt.kind]:
            outcomes = [await ask_for_ticket(_get_functions(place, functions), place.fill(attempt)) for place in trial.places]
            results.add(relation, attempt, trial.judge(attempt, outcomes))
    return results


async def _call_tools(
    place: Place, functions: dict[int, Functions], attempts: Sequence[Attempt], task: str = "task"
) -> list[Answer]:
    *calls, saying = map(place.fill, attempts)
    return await run_calls(place.deployment, _get_functions(place, functions), place.mine, calls, saying.path, task=task)


def _get_functions(place: Place, functions: dict[int, Functions]) -> Functions:
    """Return the functions of a deployment; nobody has used those of the one where the attacker is alone."""
    return functions.setdefault(id(place.deployment), Functions(deployment=place.deployment))
