"""Every file says what it holds and stays small enough to read; every skipped test says why."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("lib", "emulator", "functions") for path in (ROOT / folder).rglob("*.py"))
SKIPS = {"pytest.skip", "pytest.mark.skip", "pytest.mark.skipif"}
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def list_paths(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def has_summary(text: str) -> bool:
    """Say whether a module begins with a docstring whose first line is a sentence."""
    summary, *_ = (ast.get_docstring(ast.parse(text)) or "").splitlines() or [""]
    return summary.endswith(".")


def find_bare_skips(text: str) -> list[int]:
    """Return the lines where a test is skipped without a reason."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if ast.unparse(call.func) in SKIPS and not has_reason(call)]


def has_reason(call: ast.Call) -> bool:
    """Say whether a call that skips names its reason; `mark.skip` does by keyword alone."""
    if ast.unparse(call.func) == "pytest.mark.skip":
        return bool(call.keywords)
    return bool(call.args) or any(keyword.arg == "reason" for keyword in call.keywords)


def test_every_file_begins_with_what_it_holds():
    assert list_paths([path for path in SOURCES if not has_summary(path.read_text())]) == []


def test_every_file_is_at_most_four_hundred_lines():
    generated = {ROOT / "lib/ferryman/client/answers.py"}  # as long as the API has shapes
    assert list_paths([path for path in SOURCES if path not in generated and len(path.read_text().splitlines()) > 400]) == []


def test_every_skipped_test_has_a_reason():
    # parsing every test takes seconds: only those that mention a skip
    texts = {path: text for path in TESTS if ".skip" in (text := path.read_text())}
    assert {str(path.relative_to(ROOT)): lines for path, text in texts.items() if (lines := find_bare_skips(text))} == {}
