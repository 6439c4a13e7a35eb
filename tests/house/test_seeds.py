"""The tables of the specification: each line of a seed has the tests that prove it. A line without one fails."""

from __future__ import annotations

import pytest

from tests.house import seed_000, seed_001, seed_003
from tests.house.proofs import Decision, Table

TABLES = (seed_000.TABLE, seed_001.TABLE, seed_003.TABLE)
LINES = [pytest.param(table, line, id=f"S{table.seed}-{line}") for table in TABLES for line in table.lines]
HERE = "house/test_seeds.py::test_the_line_is_proven"


@pytest.mark.parametrize(("table", "line"), LINES)
def test_the_line_is_proven(table, line):
    assert table.wrong(line) == []


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"S{table.seed}")
def test_the_table_has_no_line_the_specification_does_not_have(table):
    assert table.unknown() == []


@pytest.mark.parametrize(
    ("proofs", "decided", "wrong"),
    [
        ({1: (HERE,)}, {}, []),
        ({}, {}, ["has no test, and nothing was decided of it"]),
        ({1: ()}, {}, ["has no test, and nothing was decided of it"]),
        ({1: (f"{HERE}_not",)}, {}, [f"{HERE}_not is no test"]),
        ({1: ("house/nowhere.py::test_a",)}, {}, ["house/nowhere.py::test_a is no test"]),
        ({1: ("house/proofs.py::wrong",)}, {}, ["house/proofs.py::wrong is no test"]),
        ({}, {1: Decision(why="so", file="README.md", words="Ferryman")}, []),
        ({}, {1: Decision(why="so", file="README.md", words="no such words")}, ["README.md does not say: no such words"]),
        ({}, {1: Decision(why="so", file="NOWHERE.md", words="a")}, ["NOWHERE.md does not say: a"]),
    ],
)
def test_what_is_wrong_with_a_line_is_found(proofs, decided, wrong):
    assert Table(seed=9, lines=(1,), proofs=proofs, decided=decided).wrong(1) == wrong


def test_a_line_that_no_seed_has_is_found():
    decided = {2: Decision(why="so", file="README.md", words="Ferryman")}
    assert Table(seed=9, lines=(1,), proofs={1: (HERE,), 3: (HERE,)}, decided=decided).unknown() == [2, 3]
