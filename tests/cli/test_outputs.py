"""What commands print beside an API on doubles: one JSON document for programs; what is wrong by name, with an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ENTRY, STORE, Typed


@pytest.mark.parametrize(
    ("words", "stdin", "code", "text"),
    [
        (("add", "-", "--task", "TASK"), "a: [\n", 2, "is neither JSON nor YAML: line 2, column 1"),
        (("add", "-", "--task", "TASK"), "7", 2, "must hold a declared tool, or a list of them"),
        (("add", "-", "--task", "TASK"), STORE, 2, "is an OpenAPI document: ferryman tools import"),
        (("add", "-", "--task", "TASK"), '{"kind": "http", "name": "a", "url": "http://x.test"}', 5, "tools.0.url: "),
        (("add", "-", "--task", "none"), json.dumps(ENTRY), 5, "there is no such task"),
        (("import", "nowhere.yaml", "--task", "TASK"), "", 2, "nowhere.yaml cannot be read: No such file"),
        (("import", "https://x.example/a.json", "--task", "TASK"), "", 5, "url: Error: request failed"),
        (("delete", "--task", "TASK"), "", 2, "give either the NAME of a tool, or --cluster NAME"),
        (("delete", "a", "--cluster", "b", "--task", "TASK"), "", 2, "give either"),
        (("list", "--task", "none"), "", 5, "there is no such task"),
        (("call", "-", "b"), json.dumps({**ENTRY, "name": "a"}), 2, "has no tool of the name b"),
        (("call", "-", "status"), json.dumps(ENTRY), 5, "write {{env.NAME}}"),
        (("call", "-", "status", "--arguments", "[]"), json.dumps(ENTRY), 2, "must be a JSON object"),
    ],
)
def test_what_is_wrong_is_named(
    words: tuple[str, ...], stdin: str, code: int, text: str, typed: Typed, task: str, tmp_path: Path
) -> None:
    tried = typed("tools", *(task if word == "TASK" else word for word in words), stdin=stdin)
    assert (tried.exit_code, text in " ".join(tried.stderr.split())) == (code, True), tried.stderr


@pytest.mark.parametrize(
    "words",
    [
        *("tools", "tools list --task TASK", "integrations", "models", "plans", "ledger", "schedules", "show", "task list"),
        *("task show TASK", "task update TASK --name b", "credential list TASK", "receipts", "halt", "resume"),
        *("tools import STORE --task TASK", "tools import STORE --task TASK --dry-run", "tools delete getPet --task TASK"),
    ],
)
def test_json_is_one_document_on_one_line(words: str, typed: Typed, task: str, store: Path) -> None:
    if "delete" in words:
        typed("tools", "import", str(store), "--task", task)
    printed = typed(*(word.replace("TASK", task).replace("STORE", str(store)) for word in words.split()), "--json")
    assert (printed.exit_code, printed.stdout.count("\n")) == (0, 1), printed.output
    json.loads(printed.stdout)
