"""Attempts: requests of one side with something of another's in them, made from the operations of the API by a seed.

What is the other's is written in a request as `⟦kind|spelling⟧`, and what is one's own as `⟦own kind⟧`, so that one attempt can
be printed, and made with what there is and with what there is not.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from tests.campaigns.isolation.belongings import DELETED, DELETION_JOBS
from tests.campaigns.isolation.guesses import SPELLINGS
from tests.campaigns.isolation.surface import Operation, Place

SLOT = re.compile(r"⟦(own )?([^|⟧]+)(?:\|([^⟧]+))?⟧")
OTHER_METHODS = ("HEAD", "OPTIONS", "PUT", "DELETE", "PATCH")
"""Also where a path does not offer them: to be refused because of that may tell whether the thing is there."""

TASKS, TASK = "/v1/tasks", "/v1/tasks/{task_id}"
IN_A_TOOL = "an id in a tool of a task"
COUNTERS = "a list, a counter or a limit"
WORD, IDEMPOTENCY_KEY, CURSOR = "word", "idempotency key of ", "cursor of "


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request. `kind` is what is tried, in words; `aims` are the kinds of the other's things in it."""

    kind: str
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    def __str__(self) -> str:
        query = "".join(f"{sign}{name}={value}" for sign, (name, value) in zip("?&&&&&", self.query.items(), strict=False))
        headers = "".join(f" {name}: {value}" for name, value in self.headers.items())
        body = "" if self.body is None else f" {json.dumps(self.body, ensure_ascii=False)}"
        return f"{self.kind}: {self.method} {self.path}{query}{headers}{body}"

    def fill(self, mine: Mapping[str, str], other: Mapping[str, str]) -> Attempt:
        """Return it with ids in the place of slots: `mine` are those of who asks, `other` the other's, or those nobody has."""

        def replace_slot(match: re.Match[str]) -> str:
            is_own, kind, spelling = match.groups()
            return SPELLINGS[spelling or "as it is"]((mine if is_own else other)[kind])

        def fill(value: Any) -> Any:
            if isinstance(value, str):
                return SLOT.sub(replace_slot, value)
            if isinstance(value, Mapping):
                return {name: fill(item) for name, item in value.items()}
            return [fill(item) for item in value] if isinstance(value, list) else value

        return replace(self, path=fill(self.path), query=fill(self.query), headers=fill(self.headers), body=fill(self.body))

    @property
    def uses(self) -> frozenset[str]:
        """The kinds of the attacker's own things in it."""
        return frozenset(kind for is_own, kind, _ in SLOT.findall(str(self)) if is_own)

    @property
    def aims(self) -> frozenset[str]:
        """The kinds of the other's things in it."""
        return frozenset(kind for is_own, kind, _ in SLOT.findall(str(self)) if not is_own)


def list_attempts(operations: Sequence[Operation], *, paged: Iterable[str]) -> list[Attempt]:
    """Return one attempt of every kind at every place of every operation; of `paged` lists the other has a cursor."""
    has_cursor = frozenset(paged)
    return [attempt for operation in operations for attempt in _attempt_all(operation, has_cursor)]


def draw_attempts(attempts: Sequence[Attempt], seed: int, guesses: int) -> list[Attempt]:
    """Return `attempts`, and `guesses` others: another spelling of an id, an id of another kind, another method."""
    draw = random.Random(seed)
    drawn, seen = list(attempts), set(map(str, attempts))
    varied = [attempt for attempt in attempts if attempt.kind.startswith(("an id in the path", "an id in the query"))]
    changes: tuple[Callable[[Attempt, random.Random], Attempt], ...] = (_spell, _swap_kind, _swap_method)
    for _ in range(50 * guesses if varied else 0):
        if len(drawn) == len(attempts) + guesses:
            break
        attempt = draw.choice(changes)(draw.choice(varied), draw)
        if str(attempt) not in seen:
            seen.add(str(attempt))
            drawn.append(attempt)
    return drawn


def _attempt_all(operation: Operation, has_cursor: frozenset[str]) -> Iterator[Attempt]:
    mine = {place.name: f"⟦own {place.kind}⟧" for place in operation.places if place.where == "path"}
    for place in operation.places:
        yield _aim(operation, mine, place)
    paths = [place for place in operation.places if place.where == "path"]
    if len(paths) > 1:
        every = {place.name: f"⟦{place.kind}⟧" for place in paths}
        yield _build(operation, "an id and a name in the path", every)
    for place in paths if operation.method == "DELETE" and len(paths) == 1 else ():
        if place.kind in DELETION_JOBS:
            yield _build(operation, "an id of what was deleted", {place.name: f"⟦{DELETED} {place.kind}⟧"})
    if operation.pages and operation.path in has_cursor:
        yield replace(_build(operation, "a cursor of a list", mine), query={"cursor": f"⟦{CURSOR}{operation.path}⟧"})
    if operation.keyed:
        yield replace(
            _build(operation, "an idempotency key", mine), headers={"Idempotency-Key": f"⟦{IDEMPOTENCY_KEY}{operation.path}⟧"}
        )
    if isinstance(operation.body, Mapping) and "name" in operation.body:
        yield replace(_build(operation, "a name that is taken", mine), body={**operation.body, "name": f"⟦{WORD}⟧ one"})
    if isinstance(operation.body, Mapping) and operation.path in (TASKS, TASK):
        for agent in ("⟦own agent⟧", "⟦agent⟧"):
            config = {"server_id": "⟦server⟧", "tool_name": f"⟦{WORD}⟧-look"}
            body = {**operation.body, "agent_id": agent, "tools": [{"type": "mcp", "config": config}]}
            yield replace(_build(operation, IN_A_TOOL, mine), body=body)
    if operation.method == "GET":
        yield _build(operation, COUNTERS, mine)
        for name, text in (("query", f"⟦{WORD}⟧"), ("name", f"⟦{WORD}⟧ one")):
            if name in operation.filters:
                yield replace(_build(operation, "a search", mine), query={name: text})
        for name, values in operation.choices.items():
            for value in values:
                yield replace(_build(operation, COUNTERS, mine), query={name: value})


def _aim(operation: Operation, mine: Mapping[str, str], place: Place) -> Attempt:
    """Return the attempt with something of the other's in one place, and what is one's own in the others."""
    aim, kind = f"⟦{place.kind}⟧", f"an id in the {place.where}"
    if place.where == "path":
        kind = "a name in the path" if place.name == "name" else kind
        return _build(operation, kind, {**mine, place.name: aim})
    attempt = _build(operation, kind, mine)
    if place.where == "query":
        return replace(attempt, query={place.name: aim})
    if place.where == "header":
        return replace(attempt, headers={place.name: aim})
    body = deepcopy(operation.body)
    inner, *path = body, *place.name.split(".")
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    inner[path[-1]] = aim
    return replace(attempt, body=body)


def _build(operation: Operation, kind: str, ids: Mapping[str, str]) -> Attempt:
    path = re.sub(r"{(\w+)}", lambda match: ids.get(match[1], "github"), operation.path)
    return Attempt(kind=kind, method=operation.method, path=path, body=operation.body)


def _spell(attempt: Attempt, draw: random.Random) -> Attempt:
    spelling = draw.choice([name for name in SPELLINGS if name != "as it is"])

    def spell(text: str) -> str:
        return SLOT.sub(lambda match: match[0] if match[1] else f"⟦{match[2]}|{spelling}⟧", text)

    query = {name: spell(value) for name, value in attempt.query.items()}
    return replace(attempt, kind="a guess: another spelling", path=spell(attempt.path), query=query)


def _swap_kind(attempt: Attempt, draw: random.Random) -> Attempt:
    """Write the id of something else in the place of an id."""
    kind = draw.choice(("task", "execution", "credential", "cluster", "connection", WORD))

    def swap(text: str) -> str:
        return SLOT.sub(lambda match: match[0] if match[1] else f"⟦{kind}⟧", text)

    query = {name: swap(value) for name, value in attempt.query.items()}
    return replace(attempt, kind="a guess: an id of another kind", path=swap(attempt.path), query=query)


def _swap_method(attempt: Attempt, draw: random.Random) -> Attempt:
    return replace(attempt, kind="a guess: another method", method=draw.choice(OTHER_METHODS), body=None)
