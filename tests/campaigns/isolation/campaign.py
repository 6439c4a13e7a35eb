"""The campaign: who attempts what at whom, each attempt in three deployments, and what is found."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from tests.campaigns.isolation.attempts import CURSOR, IDEMPOTENCY_KEY, WORD, Attempt, draw_attempts, list_attempts
from tests.campaigns.isolation.belongings import Belongings, make_belongings
from tests.campaigns.isolation.deployment import Caller, Deployment, build_deployment
from tests.campaigns.isolation.guesses import draw_ghost
from tests.campaigns.isolation.judge import Answers, Boundary, copy_rows, find_told
from tests.campaigns.isolation.relations import Relation
from tests.campaigns.isolation.surface import list_operations

ATTEMPTS = 500
SEED = 16
STARTS_AFTER_S = 86_400
"""The moment of the first attempt, in every deployment, in seconds after the deployments began."""


@dataclass(kw_only=True)
class Results:
    """The attempts that were made, how many of each relation and kind, and the findings of those that came to something."""

    attempts: list[str] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: dict[str, list[str]] = field(default_factory=dict)


async def run(
    relation: Relation, *, seed: int = SEED, most: int = ATTEMPTS, change: Callable[[Deployment], None] = lambda _: None
) -> Results:
    """Make the attempts of one relation; `change` breaks a deployment on purpose."""
    async with AsyncExitStack() as closing:
        deployments = [await closing.enter_async_context(build_deployment()) for _ in range(3)]
        attackers: list[Belongings] = []
        for deployment in deployments:
            change(deployment)
            attackers.append(await make_belongings(deployment, await relation.attacker(deployment), "mallory"))
        there, alone, guessed = deployments
        others = [
            await make_belongings(deployment, await relation.victim(deployment), "victoria") for deployment in (there, guessed)
        ]
        assert list_names(others[0]) == list_names(others[1]), "both deployments with the other side are the same"
        names = list_names(others[0])
        ghosts = draw_ghosts(names, seed)
        marks, known = list_marks(others[0]), set[str]()
        boundary = Boundary.draw(copy_rows(there.stage.memory), copy_rows(alone.stage.memory))
        for deployment in deployments:
            deployment.set_time(STARTS_AFTER_S)
        listed = list_attempts(list_operations(there.app.openapi()), paged=others[0].cursors)
        attempts = draw_attempts([attempt for attempt in listed if not relation.allows(attempt)], seed, most)
        results, sent_to = Results(), ((there, names), (alone, names), (guessed, ghosts))
        for attempt in attempts:
            results.attempts.append(str(attempt))
            results.counts[relation.name, attempt.kind] += 1
            answers = [
                await send(deployment, mine.caller, attempt.fill(list_names(mine), ids))
                for (deployment, ids), mine in zip(sent_to, attackers, strict=True)
            ]
            request_text = str(attempt.fill(list_names(attackers[0]), names))
            judged = Answers(
                request_text=request_text,
                there=answers[0],
                alone=answers[1],
                guessed=answers[2],
                ghosts={ghosts[kind]: names[kind] for kind in names},
            )
            findings = list(find_told(judged, marks))
            crossed = set(boundary.find_crossed(copy_rows(there.stage.memory), copy_rows(alone.stage.memory)))
            findings += sorted(crossed - known)
            known |= crossed
            if findings:
                results.findings[f"{relation.name}: {attempt}"] = findings
    return results


async def send(deployment: Deployment, caller: Caller, attempt: Attempt) -> Any:
    """Send an attempt whose slots are filled."""
    query = "&".join(f"{name}={value}" for name, value in attempt.query.items())
    path = f"{attempt.path}?{query}" if query else attempt.path
    return await deployment.send(caller, attempt.method, path, body=attempt.body, headers=attempt.headers)


def list_names(belongings: Belongings) -> dict[str, str]:
    """Return everything that an attempt may name, by the name of its slot."""
    cursors = {f"{CURSOR}{path}": cursor for path, cursor in belongings.cursors.items()}
    return {**belongings.ids, **cursors, WORD: belongings.word, IDEMPOTENCY_KEY: belongings.idempotency_key}


def list_marks(belongings: Belongings) -> list[str]:
    """Return the words by which something of a side is known."""
    return [belongings.word, belongings.word.upper(), *belongings.ids.values()]


def draw_ghosts(names: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return, for everything that an attempt may name, another of the same form that nobody has."""
    draw = random.Random(seed)
    return {kind: draw_ghost(name, draw) for kind, name in names.items()}
