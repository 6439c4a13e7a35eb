"""The questions of BFCL v4, their functions, and the indexes of those."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ferryman.selection import ToolIndex, ToolText, read_definition, search

ROOT = Path(__file__).resolve().parents[2] / "build/bfcl"
WHEEL = "bfcl-eval==2026.3.23"
SHA256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
CATEGORIES = (
    *("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple"),
    *("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
)
IRRELEVANT = ("irrelevance", "live_irrelevance")
LIMIT = 5

Function = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A row: its text, its own functions, and the names of those that it asks for."""

    text: str
    functions: Sequence[Function]
    relevant: frozenset[str]

    @property
    def is_held_back(self) -> bool:
        """Whether no weight was fitted on it."""
        return hashlib.sha256(self.text.encode()).digest()[-1] % 2 == 1


def read_questions(category: str) -> Iterator[Question]:
    """Yield the rows of a category."""
    folder = install()
    answers = {}
    path = folder / f"possible_answer/BFCL_v4_{category}.json"
    for line in path.read_text().splitlines() if path.exists() else ():
        answer = json.loads(line)
        answers[answer["id"]] = frozenset(name for call in answer["ground_truth"] for name in call)
    for line in (folder / f"BFCL_v4_{category}.json").read_text().splitlines():
        row = json.loads(line)
        text = " ".join(message["content"] for message in row["question"][0] if message["role"] == "user")
        yield Question(text, row["function"], answers.get(row["id"], frozenset()))


def install() -> Path:
    """Return the folder of the data, after fetching the wheel the first time."""
    folder = ROOT / "bfcl_eval/data"
    if not folder.exists():
        print(f"fetching {WHEEL} into {ROOT}", file=sys.stderr)
        ROOT.mkdir(parents=True, exist_ok=True)
        pinned = ROOT / "requirements.txt"
        pinned.write_text(f"{WHEEL} --hash=sha256:{SHA256}\n")
        command = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes")
        subprocess.run((*command, "--dest", str(ROOT), "--requirement", str(pinned)), check=True)
        with zipfile.ZipFile(next(ROOT.glob("bfcl_eval-*.whl"))) as wheel:
            wheel.extractall(ROOT, [name for name in wheel.namelist() if name.startswith("bfcl_eval/data/")])
    return folder


def choose_definitions(questions: Iterable[Question]) -> list[Function]:
    """Return one definition per name, in the order in which the names first occur: the one that most rows give."""
    definitions: dict[str, Counter[str]] = defaultdict(Counter)
    for question in questions:
        for function in question.functions:
            definitions[function["name"]][json.dumps(function)] += 1
    return [json.loads(max(counter, key=counter.__getitem__)) for counter in definitions.values()]


def read_tool(function: Function, group: str = "") -> ToolText:
    """Return the texts of a function of BFCL, whose parameters are a JSON Schema in all but the names of types."""
    return read_definition(function["name"], function["description"], function["parameters"], group=group)


def build_index(functions: Iterable[Function]) -> ToolIndex:
    """Return the index of `functions`."""
    return ToolIndex(read_tool(function) for function in functions)


def find_names(index: ToolIndex, text: str, limit: int = LIMIT, *, fitting: bool) -> list[str]:
    """Return the names of the tools found."""
    return [index.tools[number].name for number in search(index, text, limit, fitting=fitting)]
