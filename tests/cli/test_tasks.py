"""`ferryman task init`: the file that it writes has every field and can be created as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from ferryman.cli import main
from ferryman.serving.api.shapes.task import NewTask


def init(*words: str) -> Result:
    return CliRunner().invoke(main, ["task", "init", *words])


def test_the_file_is_a_task() -> None:
    content = yaml.safe_load(init("-").stdout)
    assert NewTask.model_validate(content).name == "hello"


def test_every_field_of_a_task_is_in_the_file() -> None:
    text = init("-").stdout
    assert [name for name in NewTask.model_fields if not re.search(rf"^(# )?{name}:", text, re.MULTILINE)] == []


def test_what_is_commented_out_is_accepted_too() -> None:
    text = re.sub(
        r"^( *)# (?=\w+:|  - (?:https|mode)|- kind|  (?:name|url):|    (?:tools|amount):)",
        r"\1",
        init("-").stdout,
        flags=re.MULTILINE,
    )
    once = text.replace("schedule: {type: cron", "# schedule: {type: cron").replace(
        "schedule: {type: once", "# schedule: {type: once"
    )
    content = NewTask.model_validate(yaml.safe_load(once))
    assert (content.webhook_match, content.max_tokens, content.enabled, len(content.tools)) == ("host", 4096, True, 3)
    assert content.schedule is not None
    assert content.schedule.after_s == 3600


@pytest.mark.parametrize("name", ["it's: a #name", "{{date}}", "- x", "null"])
def test_any_name_is_written_as_a_text(name: str) -> None:
    assert yaml.safe_load(init("-", "--name", name).stdout)["name"] == name


@pytest.mark.parametrize("name", ["a\nb", "x" * 101])
def test_a_name_that_no_task_may_have_is_wrong_usage(name: str) -> None:
    assert init("-", "--name", name).exit_code == 2


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    assert init(str(file)).exit_code == 0
    assert f"--file {file}" in file.read_text()
    file.write_text("mine")
    refused = init(str(file))
    assert (refused.exit_code, file.read_text(), "--force replaces it" in refused.stderr) == (1, "mine", True)
    assert init(str(file), "--force").exit_code == 0
    assert "task_prompt" in file.read_text()
