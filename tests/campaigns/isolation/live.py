"""The same attempts at a stack that is under load: each with an id of the other's, and with one that nobody has.

There is no second stack without the other; both answers have to be the same but for the id that the caller itself wrote.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import httpx

from tests.campaigns.isolation.attempts import Attempt, draw_attempts, list_attempts
from tests.campaigns.isolation.guesses import SPELLINGS, draw_ghost
from tests.campaigns.isolation.surface import list_operations

KINDS = ("an id in the", "an id and a name", "a guess: another spelling", "a guess: an id of another kind")
"""What has no effect where it is refused: an attempt that may succeed, as with a name that is taken, is left to the other
campaign."""

UNLIKE = frozenset({"date", "server"})
"""Headers that no two answers of a server share."""

REFUSED, TOO_MANY = 400, 429
LiveAnswer = tuple[int, str, str]
"""Status, headers and body of an answer, each as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSide:
    """Who asks, and the ids that a side has, by kind."""

    headers: Mapping[str, str] = field(repr=False)
    ids: Mapping[str, str]


async def list_live_attempts(http: httpx.AsyncClient, seed: int, most: int) -> list[Attempt]:
    """Return attempts at the stack's routes, drawn by a seed."""
    listed = list_attempts(list_operations((await http.get("/openapi.json")).json()), paged=())
    drawn = [attempt for attempt in draw_attempts(listed, seed, len(listed)) if attempt.kind.startswith(KINDS)]
    random.Random(seed).shuffle(drawn)
    return drawn[:most]


@dataclass(slots=True, kw_only=True)
class LiveResults:
    """How many attempts were judged, the findings of those that succeeded and of those that told something, and how many were
    put off: an owner who asked too often is answered 429, whatever for."""

    judged: int = 0
    succeeded: list[str] = field(default_factory=list)
    disclosures: list[str] = field(default_factory=list)
    put_off: int = 0

    def join(self, other: LiveResults) -> None:
        """Add those of another side."""
        self.judged, self.put_off = self.judged + other.judged, self.put_off + other.put_off
        self.succeeded += other.succeeded
        self.disclosures += other.disclosures


async def attempt_live(
    http: httpx.AsyncClient, attempts: Sequence[Attempt], mine: LiveSide, theirs: LiveSide, seed: int
) -> LiveResults:
    """Make the attempts that name only what the sides have."""
    draw, results = random.Random(seed), LiveResults()
    ghosts = {kind: draw_ghost(name, draw) for kind, name in theirs.ids.items()}
    for attempt in attempts:
        if not attempt.aims <= theirs.ids.keys() or not attempt.uses <= mine.ids.keys():
            continue
        there, guessed = [await _send(http, mine, attempt.fill(mine.ids, ids)) for ids in (theirs.ids, ghosts)]
        if TOO_MANY in (there[0], guessed[0]):
            results.put_off += 1
            continue
        results.judged += 1
        for kind, name in theirs.ids.items():
            for spell in SPELLINGS.values():
                guessed = guessed[0], *(part.replace(spell(ghosts[kind]), spell(name)) for part in guessed[1:])
        finding = f"{attempt}: answered {there[0]} {there[2][:200]}, where nobody has the id {guessed[0]}"
        if _has_succeeded(there, guessed, mine, theirs, request_text=str(attempt.fill(mine.ids, theirs.ids))):
            results.succeeded.append(finding)
        elif there != guessed:
            results.disclosures.append(finding)
    return results


def _has_succeeded(there: LiveAnswer, guessed: LiveAnswer, mine: LiveSide, theirs: LiveSide, *, request_text: str) -> bool:
    """Say whether it was done, where it is not with an id that nobody has, or answered with something else of the other's."""
    strange = [name for name in theirs.ids.values() if name not in request_text and name not in mine.ids.values()]
    return (there != guessed and there[0] < REFUSED) or any(name in there[2] for name in strange)


async def _send(http: httpx.AsyncClient, mine: LiveSide, attempt: Attempt) -> LiveAnswer:
    query = "&".join(f"{name}={value}" for name, value in attempt.query.items())
    path = f"{attempt.path}?{query}" if query else attempt.path
    headers = {**mine.headers, **attempt.headers}
    answer = await http.request(attempt.method, path, json=attempt.body, headers=headers)
    kept_headers = sorted((name, value) for name, value in answer.headers.items() if name not in UNLIKE)
    return answer.status_code, repr(kept_headers), answer.text
