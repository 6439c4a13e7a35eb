"""`ferryman tools`: the catalog and the agents are shown; a task's own tools are listed, added, called and deleted."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ferryman.catalog.tools import CATEGORIES, LISTED, TOOLS
from tests.canaries import canary
from tests.cli.conftest import ENTRY, Typed
from tests.serving.conftest import TASK


def test_the_catalog_is_shown_by_category_and_what_is_not_implemented_is_named_with_the_reason(typed: Typed) -> None:
    lines = typed("tools").stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("▼")] == sorted(CATEGORIES)
    words = {line.split()[0] for line in lines if line.strip()}
    assert set(TOOLS) <= words
    rest = {}
    for reason, names in re.findall(r"^  not implemented \((.*)\): (.*)$", "\n".join(lines), re.MULTILINE):
        rest |= dict.fromkeys(names.split(", "), reason)
    assert rest == {tool.name: tool.reason for tool in LISTED.values() if not tool.implemented}


def test_without_a_task_the_tools_of_the_catalog_are_listed(typed: Typed) -> None:
    listed = typed("tools", "--json")
    assert {"api_call", "http_get"} <= {load["name"] for load in json.loads(listed.stdout)}
    assert typed("tools", "list", "--json").stdout == listed.stdout


def test_the_tools_of_a_task_are_listed_by_cluster(typed: Typed, task: str, store: Path) -> None:
    typed("tools", "import", str(store), "--task", task, "--cluster", "pets")
    typed("tools", "add", "-", "--task", task, stdin=json.dumps(ENTRY))
    assert typed("tools", "--task", task).stdout.splitlines() == [
        "▼ pets (4 tools)",
        "  GET /elsewhere - Far away  [far]  (disabled: evil.example is not approved for this task;"
        " approved: api.calendar.test, api.github.com, api.openweathermap.org, uploads.github.com)",
        "  POST /store/pets - Create a pet  [createPet]"
        "  (disabled: takes text/csv, which is not sent: only JSON, forms and multipart/form-data are)",
        "  GET /store/pets - List all pets  [listPets]",
        "  GET /store/pets/{petId} - Get pet by ID  [getPet]",
        "▼ Ungrouped (1 tool)",
        "  status",
    ]
    assert typed("tools", "list", "--task", task).stdout == typed("tools", "--task", task).stdout


def test_tools_are_added_all_or_none(typed: Typed, task: str, tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(json.dumps([ENTRY, {**ENTRY, "name": "far", "url": "https://evil.example/"}]))
    tried = typed("tools", "add", str(file), "--task", task)
    assert (tried.exit_code, "tools.1.url: host evil.example is not approved" in tried.stderr) == (5, True)
    assert "no tools of its own" in typed("tools", "--task", task).stdout
    file.write_text(f"tools:\n  - {json.dumps(ENTRY)}\n  - {json.dumps({**ENTRY, 'name': 'near'})}\n")
    assert typed("tools", "add", str(file), "--task", task).stdout.splitlines() == [
        "▼ Ungrouped (2 tools)",
        "  near",
        "  status",
    ]
    assert json.loads(typed("task", "show", task, "--json").stdout)["tools"] == TASK["tools"]


def test_a_tool_and_a_cluster_are_deleted(typed: Typed, task: str, store: Path) -> None:
    typed("tools", "import", str(store), "--task", task)
    assert typed("tools", "delete", "getPet", "--task", task).exit_code == 0
    assert "▼ Store (3 tools)" in typed("tools", "--task", task).stdout
    assert typed("tools", "delete", "--cluster", "Store", "--task", task).exit_code == 0
    assert "no tools of its own" in typed("tools", "--task", task).stdout
    assert typed("tools", "delete", "getPet", "--task", task).exit_code == 5
    assert typed("tools", "delete", "--cluster", "Store", "--task", task).exit_code == 5


def test_an_option_before_the_command_is_not_passed_over(typed: Typed) -> None:
    assert typed("tools", "--task", "a", "list").exit_code == 2


def test_a_call_without_a_stack_needs_its_variables_and_shows_none(typed: Typed, tmp_path: Path) -> None:
    value, table = canary.create_key("a variable", 24), tmp_path / "internet.json"
    table.write_text('{"names": {}}')
    entry = json.dumps({**ENTRY, "headers": {"X-A": "{{env.STATUS_KEY}}"}})
    missing = typed("tools", "call", "-", "status", stdin=entry, STATUS_KEY="")
    assert (missing.exit_code, "env.STATUS_KEY: is not set in the environment" in missing.stderr) == (5, True)
    nowhere = {"FIRESTORE_EMULATOR_HOST": "127.0.0.1:1", "FERRYMAN_PRETEND_INTERNET": str(table)}
    blocked = typed("tools", "call", "-", "status", "--json", stdin=entry, STATUS_KEY=value, **nowhere)
    text = json.loads(blocked.stdout)
    assert (blocked.exit_code, text["block_reason"], text["credential_used"]) == (5, "dns_validation_failed", "STATUS_KEY")
    assert value not in blocked.output
