"""Figures: what is printed is what was counted, in whichever process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.figures import BEGIN, END, FIGURES, Figures, Tally, pytest_sessionfinish, pytest_testnodedown

CASES = [("url", "ports", True), ("url", "ports", False), ("url", "hosts", True), ("frame", "roles", True)]


def count_cases(cases: list[tuple[str, str, bool]]) -> Figures:
    figures = Figures()
    for group, klass, passed in cases:
        figures.add(group, klass, int(passed), 1)
    return figures


class Config:
    """As much of a run's configuration as the plugin asks: with an output it is a worker's."""

    def __init__(self, figures: Figures, **fields: Any) -> None:
        self.stash = pytest.Stash()
        self.stash[FIGURES] = figures
        self.__dict__.update(fields)


class Participant:
    """A session or a node, of a configuration."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.workeroutput: dict[str, Any] = getattr(config, "workeroutput", {})


def test_every_class_has_a_line_with_what_passed_of_how_many() -> None:
    assert list(count_cases(CASES).lines()) == [
        "frame / roles ... 1 passed of 1",
        "url / hosts ..... 1 passed of 1",
        "url / ports ..... 1 passed of 2",
        "all ............. 3 passed of 4",
    ]


def test_the_table_of_a_document_has_a_line_for_each_group() -> None:
    assert count_cases(CASES).markdown().splitlines()[2:] == [
        "| frame | roles 1/1 | 1 of 1 |",
        "| url | hosts 1/1, ports 1/2 | 2 of 3 |",
    ]


def test_the_table_replaces_what_is_between_the_marks_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"before\n{BEGIN}old\n{END}after\n")
    count_cases(CASES).write(path)
    count_cases(CASES).write(path)
    assert path.read_text() == f"before\n{BEGIN}\n{count_cases(CASES).markdown()}\n{END}after\n"


def test_a_file_without_marks_is_the_table(tmp_path: Path) -> None:
    count_cases(CASES).write(tmp_path / "table.md")
    assert (tmp_path / "table.md").read_text() == count_cases(CASES).markdown()


def test_what_two_workers_counted_is_added_up() -> None:
    whole = Config(Figures())
    for cases in (CASES[:1], CASES[1:]):
        worker = Participant(Config(count_cases(cases), workeroutput={}))
        pytest_sessionfinish(worker)  # type: ignore[arg-type]  # a session by its shape
        node = Participant(whole)
        node.workeroutput = worker.workeroutput
        pytest_testnodedown(node, None)
    assert whole.stash[FIGURES].counts == count_cases(CASES).counts


def test_a_case_is_counted_by_the_fixture(tally: Tally, request: pytest.FixtureRequest) -> None:
    tally("figures", "counting", True)
    assert request.config.stash[FIGURES].counts.pop(("figures", "counting")) == [1, 1]
