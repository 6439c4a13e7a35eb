"""The tables tell the truth: every line is there once, every test exists, and nothing that is built is listed as open."""

from __future__ import annotations

import pytest

from tests.requirements.mentions import PAGE, find_claimed, find_mentions, list_files, read_library, read_mentions
from tests.requirements.page import write_page
from tests.requirements.plugin import summarize, to_proof
from tests.requirements.table import Requirement, State, expected_numbers, find_problems, load_conflicts, load_lines

LINES, CONFLICTS = load_lines(), load_conflicts()
HERE = "requirements/test_tables.py::test_every_line_of_the_seeds_is_listed_once_and_in_order"


def test_every_line_of_the_seeds_is_listed_once_and_in_order():
    assert list(LINES) == expected_numbers()
    assert len(LINES) == 485


def test_every_listed_test_exists_and_no_open_line_is_built():
    library = read_library()
    assert {line.id: problems for line in LINES.values() if (problems := find_problems(line, library))} == {}


def test_every_contradiction_is_decided_and_held_by_tests_that_exist():
    assert {line.id: problems for line in CONFLICTS.values() if (problems := find_problems(line, ""))} == {}
    assert [line.id for line in CONFLICTS.values() if not line.otherwise or not line.tests] == []


def test_every_line_that_code_or_documents_name_exists():
    assert {number: files for number, files in read_mentions().items() if number not in {**LINES, **CONFLICTS}} == {}


def test_no_line_that_code_or_documents_name_is_open():
    named = read_mentions()
    assert {number: named[number] for number in find_claimed(LINES.values(), named)} == {}


def test_the_page_is_made_of_the_tables():
    assert PAGE.read_text() == write_page(LINES), "run `make specification`"


def make_line(**fields):
    return Requirement(**{"id": "S9-1", "text": "It does.", **fields})


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"tests": (HERE,)}, State.PROVEN),
        ({"otherwise": "so"}, State.OTHERWISE),
        ({"otherwise": "so", "tests": (HERE,)}, State.OTHERWISE),
        ({}, State.OPEN),
    ],
)
def test_the_state_of_a_line_follows_from_its_fields(fields, state):
    assert make_line(**fields).state is state


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"tests": (f"{HERE}_not",)}, "does not exist"),
        ({"tests": ("requirements/nowhere.py::test_a",)}, "does not exist"),
        ({"tests": ("requirements/table.py::is_test",)}, "does not exist"),
        ({"text": ""}, "no sentence"),
        ({"otherwise": ""}, "empty reason"),
        ({"built_when": ("execute_sql",)}, "is open, and the library has execute_sql"),
        ({"built_when": ("other",), "tests": (HERE,)}, "is not open"),
        ({"waits_for": "files", "tests": (HERE,)}, "waits for nothing"),
        ({"waits_for": ""}, "waits for nothing"),
    ],
)
def test_a_false_entry_is_found(fields, problem):
    (text,) = find_problems(make_line(**fields), 'Tool(name="execute_sql")')
    assert problem in text


@pytest.mark.parametrize(
    "fields", [{"tests": (HERE,)}, {"built_when": ("execute",)}, {"otherwise": "so"}, {"waits_for": "files"}]
)
def test_an_entry_that_is_true_is_not_found(fields):
    assert find_problems(make_line(**fields), 'Tool(name="execute_sql")') == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("as the page says (S3-109)", ["S3-109"]),
        ("S1-27 … S1-30", ["S1-27", "S1-28", "S1-29", "S1-30"]),
        ("S0-3, S1-4", ["S0-3", "S1-4"]),
        ("SHA-256, RS0-1, S0-", []),
        ("S7-1", ["S7-1"]),
        ("a list (C-5), RFC-5, C-", ["C-5"]),
    ],
)
def test_a_mention_is_found(text, numbers):
    assert list(find_mentions(text)) == numbers


def test_an_open_line_that_is_named_is_found():
    lines = [
        make_line(id="S9-1"),
        make_line(id="S9-2", tests=(HERE,)),
        make_line(id="S9-3", otherwise="so"),
        make_line(id="S9-4"),
    ]
    assert find_claimed(lines, {"S9-1", "S9-2", "S9-3"}) == ["S9-1"]


def test_mentions_are_looked_for_in_sources_tests_and_documents():
    folders = {path.parts[len(PAGE.parents[1].parts)] for path in list_files()}
    assert {"lib", "functions", "tests", "docs", "README.md"} <= folders


def test_the_end_of_a_run_counts_the_states_of_each_seed_and_names_what_did_not_pass():
    lines = [
        Requirement(id="S0-1", text="A.", tests=("a.py::test_a",)),
        Requirement(id="S0-2", text="B."),
        Requirement(id="S4-1", text="C.", otherwise="so"),
    ]
    rows = summarize(lines, {to_proof("tests/a.py::test_a[1]")})
    assert rows[0] == "S0... 1 proven, 0 decided otherwise, 1 open, of 143"
    assert rows[5] == "all.. 1 proven, 1 decided otherwise, 1 open, of 3"
    assert rows[6:] == ["S0-1: not proven in this run: a.py::test_a"]
