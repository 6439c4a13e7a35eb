"""The requirement tables: every line of the five seeds with its sentence, its state and the tests that prove it.

`seed_N.toml` holds the lines of seed N. A line has `text`, and by what else it has its state follows:

- `tests`, each as `folder/file.py::test` below tests/: *proven*. Each would fail without the line.
- `otherwise`, a reason: *decided otherwise*, also in part; its tests prove what is done instead.
- neither: *open*. `built_when` are words that the library has once the line is built: then it may no longer be open.
  `waits_for` names what has to be there first.

`conflicts.toml` holds where seeds contradict each other: `otherwise` is what was decided, `tests` hold it.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SIZES = {0: 143, 1: 40, 2: 53, 3: 109, 4: 140}
"""How many lines each seed has: 485 in all."""


class State(StrEnum):
    """How far a line is followed."""

    PROVEN = "proven"
    OTHERWISE = "decided otherwise"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One line of a seed. `id` is its number, as S0-131; `text` is one sentence of ours."""

    id: str
    text: str
    tests: tuple[str, ...] = ()
    otherwise: str | None = None
    waits_for: str | None = None
    built_when: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        if self.otherwise is not None:
            return State.OTHERWISE
        return State.PROVEN if self.tests else State.OPEN


@cache
def load_lines() -> Mapping[str, Requirement]:
    """Return the lines of all seeds by number, in order. Raise TypeError for an unknown field, ValueError for a bad file."""
    return {number: line for seed in SIZES for number, line in _load(f"seed_{seed}.toml").items()}


@cache
def load_conflicts() -> Mapping[str, Requirement]:
    """Return the contradictions of the seeds by number, in order. It raises what `load_lines` does."""
    return _load("conflicts.toml")


def _load(name: str) -> dict[str, Requirement]:
    lines = {}
    for number, fields in tomllib.loads((Path(__file__).parent / name).read_text()).items():
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
        lines[number] = Requirement(id=number, **values)
    return lines


def expected_numbers() -> list[str]:
    """Return the number of every line that the seeds have, in order."""
    return [f"S{seed}-{number}" for seed, size in SIZES.items() for number in range(1, size + 1)]


def find_problems(line: Requirement, source: str) -> list[str]:
    """Return what is wrong with `line`: an empty field, a test that does not exist, or a word of it in `source`."""
    problems = [f"{test} does not exist" for test in line.tests if not is_test(test)]
    if not line.text.endswith(".") or line.otherwise == "":
        problems.append("has no sentence, or an empty reason")
    if line.built_when and line.state is not State.OPEN:
        problems.append("is not open: take built_when out")
    if line.waits_for is not None and (line.state is not State.OPEN or not line.waits_for):
        problems.append("is not open, or waits for nothing: take waits_for out")
    return problems + [f"is open, and the library has {word}" for word in line.built_when if contains_word(source, word)]


def contains_word(source: str, word: str) -> bool:
    """Tell whether `source` has `word`, not as a part of a longer one."""
    return word in source and re.search(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])", source) is not None


def is_test(proof: str) -> bool:
    """Tell whether `proof`, as `folder/file.py::test`, is a test function below tests/."""
    file, _, name = proof.partition("::")
    return name.startswith("test_") and name in _list_functions(ROOT / "tests" / file)


def count_states(lines: Iterable[Requirement]) -> dict[int, Counter[State]]:
    """Return how many lines of each seed have each state."""
    counts: dict[int, Counter[State]] = {seed: Counter() for seed in SIZES}
    for line in lines:
        counts[int(line.id[1])][line.state] += 1
    return counts


@cache
def _list_functions(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    nodes = ast.walk(ast.parse(path.read_text()))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
