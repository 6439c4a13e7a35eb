"""Policy is a field of a tool, never its name: no code outside the catalogue compares the name of a tool."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ferryman.catalog.tools import TOOLS

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "lib/ferryman/catalog"
FILES = [path for folder in ("lib", "functions", "emulator", "infra") for path in sorted((ROOT / folder).rglob("*.py"))]

LOOKUPS = ("get", "startswith", "endswith")
DEPTH_MAX = 4

EXEMPT = {
    ("lib/ferryman/loop/setup.py", "WEBHOOK"),  # it asks for the integration of the same name
    ("emulator/tasks/check.py", "'http_request'"),  # a field of Cloud Tasks
}


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def find_assigned(path: Path, name: str) -> tuple[Path, ast.expr] | None:
    """Return what a module assigns to `name`, with the file that does it: imports are followed."""
    for node in parse(path).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return path, node.value
        if isinstance(node, ast.ImportFrom) and node.module:
            imported = next((alias.name for alias in node.names if (alias.asname or alias.name) == name), None)
            if imported is None:
                continue
            module = ROOT.joinpath("lib", *node.module.split("."))
            source = next((file for file in (module.with_suffix(".py"), module / "__init__.py") if file.is_file()), None)
            if source is not None:
                return find_assigned(source, imported)
    return None


@cache
def names_a_tool(path: Path, node: ast.AST, depth: int = 0) -> bool:
    """Tell whether an expression has the name of a tool in it, written there or where a name in it is assigned."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and part.value in TOOLS:
            return True
        assigned = find_assigned(path, part.id) if isinstance(part, ast.Name) and depth < DEPTH_MAX else None
        if assigned is not None and assigned[0].parent != CATALOGUE and names_a_tool(*assigned, depth + 1):
            return True
    return False


def list_compared(path: Path) -> Iterator[ast.AST]:
    """Yield every expression of a file that something is compared with, looked up by, or looked up in."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        elif isinstance(node, ast.MatchValue | ast.Subscript):
            yield node.value
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in LOOKUPS:
            yield from (node.func, *node.args[:1])


def test_no_code_outside_the_catalogue_compares_a_tool_s_name() -> None:
    compared = [
        (str(path.relative_to(ROOT)), ast.unparse(node))
        for path in FILES
        for node in list_compared(path)
        if path.parent != CATALOGUE and names_a_tool(path, node)
    ]
    assert [about for about in compared if about not in EXEMPT] == []


@pytest.mark.parametrize(
    "code",
    [
        'tool == "http_get"',
        '"webhook" != call.tool',
        'tool in ("http_get", "look")',
        'FREE = frozenset(("http_get",))\nfree = tool not in FREE',
        'FEES = {"api_call": 1}\nfee = FEES[tool]',
        'FEES = {"api_call": 1}\nfee = FEES.get(tool)',
        'match tool:\n    case "http_get":\n        pass',
        'NAME = "http_get"\nKNOWN = (NAME,)\nis_known = tool in KNOWN',
        "from ferryman.domain.credentials.integration import WEBHOOK\nis_webhook = tool == WEBHOOK",
    ],
)
def test_a_comparison_is_found_however_it_is_written(tmp_path: Path, code: str) -> None:
    path = tmp_path / "some.py"
    path.write_text(code)
    assert any(names_a_tool(path, node) for node in list_compared(path))


def test_what_is_read_from_the_catalogue_is_none() -> None:
    path = ROOT / "lib/ferryman/tools/registry.py"
    assert not any(names_a_tool(path, node) for node in list_compared(path))


def test_every_exemption_is_needed() -> None:
    for place, text in EXEMPT:
        path = ROOT / place
        assert text in [ast.unparse(node) for node in list_compared(path) if names_a_tool(path, node)]
