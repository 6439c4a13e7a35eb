"""The files of the house: each says what lives in it, and stays small enough to read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("lib", "emulator", "functions") for path in (ROOT / folder).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_opens_with_what_lives_in_it(path):
    first = (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()
    assert first
    assert first[0].endswith(".")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_at_most_four_hundred_lines(path):
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_test_is_only_skipped_with_a_reason(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"pytest.skip", "pytest.mark.skip", "pytest.mark.skipif"}:
            assert any(keyword.arg == "reason" for keyword in node.keywords) or node.args, f"line {node.lineno}"
            assert ast.unparse(node.func) != "pytest.mark.skip" or node.keywords, f"line {node.lineno}"
