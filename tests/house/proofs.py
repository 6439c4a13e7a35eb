"""Proofs: the tables that tie each line of a seed to the tests that prove it, and what may be wrong with one."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why a line is followed otherwise than it is worded, or not at all; `file`, from the root, says so in `words`."""

    why: str
    file: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """For the `lines` of a seed, the tests that prove each, as `folder/file.py::test`, and what was decided of it."""

    seed: int
    lines: Collection[int]
    proofs: Mapping[int, tuple[str, ...]]
    decided: Mapping[int, Decision] = field(default_factory=dict)

    def wrong(self, line: int) -> list[str]:
        """What keeps `line` from being proven or decided."""
        proofs, decision = self.proofs.get(line, ()), self.decided.get(line)
        found = [f"{proof} is no test" for proof in proofs if not _is_test(proof)]
        if decision is not None and not _says(decision):
            found.append(f"{decision.file} does not say: {decision.words}")
        if not proofs and decision is None:
            found.append("has no test, and nothing was decided of it")
        return found

    def unknown(self) -> list[int]:
        """The lines it names that the seed does not have."""
        return sorted({*self.proofs, *self.decided} - {*self.lines})


def _is_test(proof: str) -> bool:
    file, _, name = proof.partition("::")
    return name.startswith("test_") and name in _functions(ROOT / "tests" / file)


@cache
def _functions(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    nodes = ast.walk(ast.parse(path.read_text()))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _says(decision: Decision) -> bool:
    path = ROOT / decision.file
    return path.is_file() and " ".join(decision.words.split()) in " ".join(path.read_text().split())
