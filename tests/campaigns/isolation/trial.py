"""A trial: three deployments of one relation, in which the same attempts are made, and the judgement of their answers."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from tests.campaigns.isolation.attempts import CURSOR, IDEMPOTENCY_KEY, WORD, Attempt
from tests.campaigns.isolation.belongings import Belongings, make_belongings
from tests.campaigns.isolation.deployment import Answer, Deployment, build_deployment
from tests.campaigns.isolation.guesses import SPELLINGS, draw_ghost
from tests.campaigns.isolation.judge import Answers, Boundary, copy_rows, find_told
from tests.campaigns.isolation.relations import Relation

STARTS_AFTER_S = 14_400
"""The moment of the first attempt, in every deployment, in seconds after it began: less than an idempotency key lives."""

Change = Callable[[Deployment], None]
Settle = Callable[[Deployment, Belongings], Awaitable[None]]


def change_nothing(_: Deployment) -> None:
    """Leave a deployment as it is."""


async def do_nothing(_: Deployment, __: Belongings) -> None:
    """Have the other side do nothing before it is attacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One of the three deployments: what the attacker has there, and the ids that its attempts name."""

    deployment: Deployment
    mine: Belongings
    ids: Mapping[str, str]

    def fill(self, attempt: Attempt) -> Attempt:
        """Return the attempt as it is made here."""
        return attempt.fill(list_names(self.mine), self.ids)


@dataclass(kw_only=True)
class Trial:
    """Where the other is `there`, where the attacker is `alone`, and where ids are `guessed`; `marks` are the other's words."""

    there: Place
    alone: Place
    guessed: Place
    marks: Sequence[str]
    boundary: Boundary
    ghosts: Mapping[str, str]
    known: set[str] = field(default_factory=set)

    @property
    def places(self) -> tuple[Place, Place, Place]:
        """The three, in the order of the answers."""
        return self.there, self.alone, self.guessed

    def judge(self, attempt: Attempt, answers: Sequence[Answer]) -> list[str]:
        """Return what is wrong with the answers to an attempt, and with what is stored after it."""
        return [*self.judge_answers(attempt, answers), *self.find_crossed()]

    def judge_answers(self, attempt: Attempt, answers: Sequence[Answer]) -> list[str]:
        """Return what is wrong with the answers to an attempt."""
        there, alone, guessed = answers
        judged = Answers(
            request_text=str(self.there.fill(attempt)),
            there=there,
            alone=alone,
            guessed=guessed if attempt.aims else None,
            ghosts=self.ghosts,
        )
        return [*find_told(judged, self.marks)]

    def find_crossed(self) -> list[str]:
        """Return what crossed the boundary in the stores since this was asked before."""
        stores = (copy_rows(place.deployment.stage) for place in (self.there, self.alone))
        crossed = set(self.boundary.find_crossed(*stores)) - self.known
        self.known |= crossed
        return sorted(crossed)


@asynccontextmanager
async def prepare(
    relation: Relation, seed: int, change: Change = change_nothing, settle: Settle = do_nothing
) -> AsyncIterator[Trial]:
    """Prepare a trial.

    `change` breaks a deployment on purpose, before it is attacked; `settle` is what the other side does with its belongings.
    """
    async with AsyncExitStack() as closing:
        deployments = [await closing.enter_async_context(build_deployment()) for _ in range(3)]
        attackers = [
            await make_belongings(deployment, await relation.attacker(deployment), "mallory") for deployment in deployments
        ]
        there, alone, guessed = deployments
        others: list[Belongings] = []
        for deployment in (there, guessed):
            others.append(await make_belongings(deployment, await relation.victim(deployment), "victoria"))
            await settle(deployment, others[-1])
        names = list_names(others[0])
        assert names == list_names(others[1]), "the other side is the same in both"
        for deployment in deployments:
            change(deployment)
            deployment.set_time(STARTS_AFTER_S)
        draw = random.Random(seed)
        ghosts = {kind: draw_ghost(name, draw) for kind, name in names.items()}
        places = [
            Place(deployment=deployment, mine=mine, ids=ids)
            for deployment, mine, ids in zip(deployments, attackers, (names, names, ghosts), strict=True)
        ]
        yield Trial(
            there=places[0],
            alone=places[1],
            guessed=places[2],
            marks=list_marks(others[0]),
            ghosts=spell_ghosts(ghosts, names),
            boundary=Boundary.draw(copy_rows(there.stage), copy_rows(alone.stage)),
        )


def spell_ghosts(ghosts: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return every spelling of every id that nobody has, with that of the one whose place it takes, the longest first."""
    spelled = {spell(ghosts[kind]): spell(names[kind]) for kind in names for spell in SPELLINGS.values()}
    return dict(sorted(spelled.items(), key=lambda item: -len(item[0])))


def list_names(belongings: Belongings) -> dict[str, str]:
    """Return everything that an attempt may name, by the name of its slot."""
    cursors = {f"{CURSOR}{path}": cursor for path, cursor in belongings.cursors.items()}
    keys = {f"{IDEMPOTENCY_KEY}{path}": key for path, key in belongings.idempotency_keys.items()}
    return {**belongings.ids, **cursors, **keys, WORD: belongings.word}


def list_marks(belongings: Belongings) -> list[str]:
    """Return the words by which something of a side is known."""
    return [belongings.word, belongings.word.upper(), *belongings.ids.values()]
