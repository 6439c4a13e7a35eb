"""The Python of README.md and docs/python.md, run as it is written, beside a stack."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README, PAGE = (
    re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL) for name in ("README.md", "docs/python.md")
)


def run(text: str, stack: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    key = Path(stack["key_file"]).read_text().strip()
    env = {**os.environ, "FERRYMAN_URL": stack["url"], "FERRYMAN_KEY": key}
    return subprocess.run([sys.executable, "-W", "error", "-c", text], env=env, capture_output=True, text=True, check=False)


def test_the_lines_of_the_readme_run_as_they_are(stack: Mapping[str, Any]) -> None:
    (example,) = README
    assert len([line for line in example.splitlines() if line]) <= 10
    printed = run(example, stack)
    *events, answer = printed.stdout.splitlines()
    assert printed.returncode == 0, printed.stderr
    assert (events[0], events[-1].split()[1]) == ("1 started", "finished")
    assert answer.startswith("I asked CoinGecko twice")


@pytest.mark.parametrize("heading", range(len(PAGE)))
def test_each_example_of_the_page_runs_after_those_before_it(heading: int, stack: Mapping[str, Any]) -> None:
    # whatever ran before, there is a task and an execution
    ran = [run(example, stack) for example in dict.fromkeys([PAGE[0], PAGE[heading]])]
    assert [(done.returncode, done.stderr) for done in ran] == [(0, "")] * len(ran)
    assert all(done.stdout for done in ran if "print(" in PAGE[heading])


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
