"""`ferryman tools search`: words find the tools of a task."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Typed


def test_words_find_the_tools_of_a_task_that_fit_them(typed: Typed, task: str, store: Path) -> None:
    typed("tools", "import", str(store), "--task", task, "--cluster", "pets")
    answer = typed("tools", "search", "create", "a", "pet", "--task", task, "--json")
    assert (answer.exit_code, json.loads(answer.stdout)[0]["name"]) == (0, "createPet")
    table = typed("tools", "search", "createPet", "--task", task)
    assert [line.split() for line in table.stdout.splitlines()] == [
        ["name", "cluster", "description"],
        ["createPet", "pets", "Create", "a", "pet."],
    ]


def test_words_that_fit_no_tool_are_told_so(typed: Typed, task: str) -> None:
    answer = typed("tools", "search", "weather", "--task", task)
    assert (answer.exit_code, answer.stdout) == (0, "No tool of the task fits these words.\n")
