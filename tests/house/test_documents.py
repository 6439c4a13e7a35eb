"""The documents: what they show is what the house does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ferryman.domain.http import Outbound
from ferryman.tools.builtin import READERS, TOOLS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tools.md").read_text()
README = (ROOT / "README.md").read_text()


def test_the_page_of_the_tools_has_a_row_for_each():
    for tool in TOOLS:
        assert re.search(rf"^\| `{tool.name}` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
def test_every_example_is_read_by_its_tool(tool):
    section = PAGE.split(f"\n## {tool}\n")[1].split("\n## ")[0]
    examples = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", section, re.DOTALL)]
    calls = [example for example in examples if "url" in example]
    assert calls
    assert all(isinstance(READERS[tool](call), Outbound) for call in calls)


@pytest.mark.parametrize("path", [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))], ids=lambda path: path.name)
def test_a_file_that_is_named_is_there(path):
    named = re.findall(r"`((?:lib|functions|emulator|infra|tests|bench|docs)/[A-Za-z0-9_./-]+\.[a-z]+)`", path.read_text())
    missing = [name for name in named if "NAME" not in name and not (ROOT / name).exists()]
    assert missing == []


def test_the_readme_names_every_runtime_dependency():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[\[<>=]", each)[0] for each in project["dependencies"]]
    table = README.split("## Dependencies")[1]
    assert [name for name in names if name not in table] == []
