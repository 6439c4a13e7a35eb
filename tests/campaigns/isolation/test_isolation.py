"""The campaign finds what is let through, and nothing in the API as it is."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.tasks import MemoryTasks
from tests.campaigns.crash.local_functions import LocalFunctions
from tests.campaigns.isolation import functions
from tests.campaigns.isolation.attempts import SLOT, draw_attempts, list_attempts
from tests.campaigns.isolation.belongings import make_belongings
from tests.campaigns.isolation.campaign import run, run_functions
from tests.campaigns.isolation.deployment import Deployment, build_deployment
from tests.campaigns.isolation.faults import FAULTS, InjectedFault, find_fault, inject
from tests.campaigns.isolation.guesses import SPELLINGS, draw_ghost
from tests.campaigns.isolation.relations import RELATIONS, Relation
from tests.campaigns.isolation.surface import list_operations

OWNERS_AND_PEOPLE = pytest.mark.parametrize("relation", [RELATIONS[0], RELATIONS[-1]], ids=lambda relation: relation.name)
"""`make isolation`, which continuous integration runs, makes these attempts and others for every relation."""


@OWNERS_AND_PEOPLE
async def test_no_route_gives_or_tells_what_is_another_s(relation: Relation) -> None:
    results = await run(relation, guesses=0)  # every place of every route; `make isolation` guesses besides
    assert results.findings == {}
    assert results.counts.total() > 30


async def test_no_tool_gives_or_tells_what_is_another_s() -> None:
    results = await run_functions(RELATIONS[0])  # `make isolation` does it for every relation
    assert results.findings == {}
    assert results.counts.total() > 150


async def test_an_owner_or_a_person_has_a_second_page_of_every_list() -> None:
    cursors = set[str]()
    for relation in (RELATIONS[0], RELATIONS[2]):
        async with build_deployment() as deployment:
            theirs = await make_belongings(deployment, await relation.victim(deployment), "victoria")
            paged = {operation.path for operation in list_operations(deployment.app.openapi()) if operation.pages}
        cursors |= theirs.cursors.keys()
    # of receipts one has one page: a slice writes them
    assert paged - cursors == {"/v1/executions/{execution_id}/receipts"}


class TellingTasks(MemoryTasks):
    """Tasks of which a list is shorter while there is anybody else's."""

    async def list(self, *arguments: Any, **named: Any) -> Any:
        more_than_one = len({task.owner for task in self._memory.tasks.values()}) > 1
        return await super().list(*arguments, **{**named, "most": 1 if more_than_one else named["most"]})


def tell_of_tasks(deployment: Deployment) -> None:
    deployment.replace(tasks=TellingTasks(deployment.stage.memory))


class OnceNamedTasks(MemoryTasks):
    """Tasks of which no two of any owner have one name."""

    async def create(self, task: Task, **named: Any) -> None:
        if any(known.name == task.name for known in self._memory.tasks.values()):
            raise LimitReachedError("a task of this name is there")
        await super().create(task, **named)


def name_once(deployment: Deployment) -> None:
    deployment.replace(tasks=OnceNamedTasks(deployment.stage.memory))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (tell_of_tasks, "a list, a counter or a limit"),
        (name_once, "a name that is taken"),
    ],
)
async def test_what_a_route_lets_through_is_found(change: Callable[[Deployment], None], kind: str) -> None:
    results = await run(RELATIONS[0], guesses=0, only=kind, change=change)
    assert any(f": {kind}: " in attempt for attempt in results.findings)


class ObeyingFunctions(LocalFunctions):
    """Local functions that act for the workspace which the arguments name."""

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        named = body["arguments"].get("workspace", "")
        answer = await super().ask(function, body)
        return KeylessAnswer(f"{answer.content} {named in derive_default_workspace('ann')}", answer.code, answer.changes)


async def test_what_a_function_lets_through_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "LocalFunctions", ObeyingFunctions)
    results = await run_functions(RELATIONS[0], only=(kind := "a scope in a tool's arguments"))
    assert any(f": {kind}: " in attempt for attempt in results.findings)


ONE_OF_EACH_KIND = [*{fault.kind: fault for fault in FAULTS}.values()]
SOME = ONE_OF_EACH_KIND[::4]
"""`make isolation`, which continuous integration runs, injects all."""


@pytest.mark.parametrize("fault", SOME, ids=lambda fault: fault.title)
async def test_a_fault_in_the_library_is_found(fault: InjectedFault) -> None:
    assert await find_fault(fault)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.title)
def test_the_line_that_a_fault_is_injected_into_is_there(fault: InjectedFault) -> None:
    with inject(fault):
        pass


@pytest.mark.parametrize("name", ["task_3e6188109c0d341ebfc560bdfb29a5", "VICTORIA_TOKEN", "victoriacluster", "Ab3_x-Y9" * 6])
def test_an_id_that_nobody_has_is_of_the_same_form(name: str) -> None:
    ghost = draw_ghost(name, random.Random(1))
    assert ghost != name
    assert [len(ghost), *map(str.isdigit, ghost)].count(None) == 0
    assert len(ghost) == len(name)


def test_every_spelling_is_another() -> None:
    name = "task_3e6188109c0d341ebfc560bdfb29a5"
    assert len({spell(name) for spell in SPELLINGS.values()}) == len(SPELLINGS)


async def test_the_same_seed_makes_the_same_attempts() -> None:
    async with build_deployment() as deployment:
        listed = list_attempts(list_operations(deployment.app.openapi()), paged=())
    first, again, other = ([str(attempt) for attempt in draw_attempts(listed, seed, 3)] for seed in (1, 1, 2))
    assert first == again != other
    assert all(SLOT.search(attempt) or "a list, a counter" in attempt for attempt in first)
