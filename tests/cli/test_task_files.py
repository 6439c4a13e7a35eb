"""Files of tasks: `ferryman task create` and `update` take what `task init` writes, with declared tools."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import HOST, Typed


def test_a_task_comes_from_a_file_in_yaml_with_its_tools(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(
        "name: on\nmodel: scripted/x\ntask_prompt: |\n  Do it.\nintegrations: [github]\ntools:\n  - http_get\n"
        f"  - kind: http\n    name: status\n    url: https://{HOST}/status\n"
    )
    created = json.loads(typed("task", "create", "--file", str(file), "--json").stdout)
    assert (created["name"], created["task_prompt"], created["tools"]) == ("on", "Do it.\n", ["http_get"])
    assert "▼ Ungrouped (1 tool)" in typed("tools", "--task", created["task_id"]).stdout


def test_the_file_of_task_init_is_accepted(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    assert typed("task", "init", str(file), "--name", "mine").exit_code == 0
    file.write_text(file.read_text().replace("coingecko", "github"))  # the catalog of the doubles
    created = json.loads(typed("task", "create", "--file", str(file), "--json").stdout)
    assert (created["name"], created["tools"]) == ("mine", ["http_get", "api_call"])
    updated = typed("task", "update", created["task_id"], "--file", str(file), "--name", "other", "--json")
    assert json.loads(updated.stdout)["name"] == "other"
