"""`ferryman agent` and `ferryman policy`, typed beside an API on doubles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ferryman.catalog.agents import TEMPLATES
from ferryman.catalog.tools import LISTED, TOOLS
from ferryman.cli import exits

from .conftest import Typed

SETTINGS = {"http_get": {"calls_max": 5, "timeout_s": 10.0, "arguments": {"headers": {"Accept": "text/plain"}}, "flow": None}}
DECIDING = "method,url,credential,headers,body,query_params"


@pytest.fixture
def agent(typed: Typed) -> str:
    """A new agent's id."""
    result = typed("agent", "create", "--name", "Prices", "--tool", "http_get", "--tool", "read_artifact")
    assert result.exit_code == exits.DONE, result.output
    return result.output.strip()


def show(typed: Typed, agent: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(typed("agent", "show", agent, "--json").stdout)
    return stored


def test_an_agent_is_created_with_what_is_said(typed: Typed, agent: str) -> None:
    stored = show(typed, agent)
    assert (stored["name"], stored["allowed_tools"]) == ("Prices", ["http_get", "read_artifact"])


def test_an_agent_is_created_from_a_template_and_a_file(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(json.dumps({"tool_settings": SETTINGS, "name": "From the file"}))
    agent = typed("agent", "create", "--template", "wally", "--file", str(file), "--name", "Willy").stdout.strip()
    stored = show(typed, agent)
    assert (stored["name"], stored["template"], stored["tool_settings"]) == ("Willy", "wally", SETTINGS)
    assert tuple(stored["allowed_tools"]) == TEMPLATES["wally"].allowed_tools


def test_an_update_changes_what_is_named(typed: Typed, agent: str) -> None:
    before = show(typed, agent)
    assert typed("agent", "update", agent, "--all-tools", "--max-credits-month", "7").exit_code == exits.DONE
    changed = show(typed, agent)
    assert changed == {**before, "allowed_tools": [], "max_credits_month": "7", "updated_at": changed["updated_at"]}
    typed("agent", "update", agent, "--max-credits-month", "none")
    assert show(typed, agent)["max_credits_month"] is None


def test_the_model_writes_titles_where_that_is_said(typed: Typed, agent: str) -> None:
    before = show(typed, agent)["titles"]
    assert typed("agent", "update", agent, "--titles", "model").exit_code == exits.DONE
    assert (before, show(typed, agent)["titles"]) == ("first_line", "model")


def test_a_title_is_of_a_known_origin(typed: Typed, agent: str) -> None:
    assert typed("agent", "update", agent, "--titles", "best").exit_code == exits.USAGE


def test_some_tools_and_all_tools_are_not_said_together(typed: Typed, agent: str) -> None:
    result = typed("agent", "update", agent, "--all-tools", "--tool", "http_get")
    assert (result.exit_code, "only one of --tool and --all-tools" in result.stderr) == (exits.USAGE, True)


def test_an_agent_is_archived_and_restored(typed: Typed, agent: str) -> None:
    assert typed("agent", "archive", agent).exit_code == exits.DONE
    assert show(typed, agent)["archived"] is True
    refused = typed("agent", "update", agent, "--name", "b")
    assert (refused.exit_code, "the agent is archived: restore it first" in refused.stderr) == (exits.REFUSED, True)
    assert typed("agent", "restore", agent).exit_code == exits.DONE
    assert show(typed, agent)["archived"] is False


def test_the_agents_are_listed_with_the_default_one(typed: Typed, agent: str) -> None:
    listed = json.loads(typed("agent", "list", "--json").stdout)
    assert agent in [item["agent_id"] for item in listed]
    assert sum(item["is_default"] for item in listed) == 1
    assert agent in typed("agent", "list").stdout


def test_a_deletion_that_is_not_awaited_says_which_job_does_it(typed: Typed, agent: str) -> None:
    result = typed("agent", "delete", agent, "--no-wait")
    assert (result.exit_code, "deletes it: ferryman job show job_" in result.stdout) == (exits.DONE, True)
    assert typed("agent", "show", agent).exit_code == exits.REFUSED


def test_the_templates_are_shown_with_the_number_of_their_tools(typed: Typed) -> None:
    lines = typed("agent", "templates").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == sorted(TEMPLATES)
    for template in TEMPLATES.values():
        implemented = [name for name in template.allowed_tools if name in TOOLS]
        (line,) = (line for line in lines if line.startswith(f"{template.id} "))
        assert f" {len(template.allowed_tools)}, {len(implemented)} implemented " in line


def test_the_policy_says_of_every_tool_which_level_takes_it_away(typed: Typed, agent: str) -> None:
    rows = json.loads(typed("policy", agent, "--json").stdout)
    assert [row["tool"] for row in rows] == sorted(LISTED)
    lines = {line.split()[0]: line.split(maxsplit=9)[1:] for line in typed("policy", agent).stdout.splitlines()}
    assert lines["tool"] == ["task", "agent", "workspace", "plan", "catalog", "result", "asks", "decides", "why"]
    assert lines["http_get"] == ["-", "yes", "yes", "yes", "yes", "allowed", "never", "-", "-"]
    why = "the agent's allowed_tools do not name it"
    assert lines["api_call"] == ["-", "no", "yes", "yes", "yes", "refused", "when_untrusted", DECIDING, why]
    assert lines["orchestrator__read_artifact"][1:5] == ["yes", "yes", "yes", "no"]


def test_the_policy_of_a_task_says_what_the_task_takes_away(typed: Typed, agent: str, task: str) -> None:
    rows = {row["tool"]: row for row in json.loads(typed("policy", agent, "--task", task, "--json").stdout)}
    assert rows["wait_until"]["taken_by"] == ["task", "agent"]


def test_a_task_is_given_to_an_agent_listed_with_it_and_taken_back(typed: Typed, agent: str, task: str) -> None:
    after = json.loads(typed("task", "update", task, "--agent", agent, "--json").stdout)
    assert after["agent_id"] == agent
    assert [item["task_id"] for item in json.loads(typed("task", "list", "--agent", agent, "--json").stdout)] == [task]
    back = json.loads(typed("task", "update", task, "--agent", "none", "--json").stdout)
    assert back["agent_id"] != agent
    assert typed("task", "list", "--agent", agent, "--json").stdout.strip() == "[]"


def test_a_task_runs_on_its_agents_model_where_it_is_given_none(typed: Typed, agent: str, task: str) -> None:
    refused = typed("task", "update", task, "--agent", agent, "--model", "none")
    assert (refused.exit_code, "give a model, or an agent_id whose agent names one" in refused.stderr) == (exits.REFUSED, True)
    typed("agent", "update", agent, "--model", "scripted/hello")
    changed = json.loads(typed("task", "update", task, "--agent", agent, "--model", "none", "--json").stdout)
    assert (changed["agent_id"], changed["model"]) == (agent, None)
