"""Names and docstrings use the words of the field, and one name means one thing (vocabulary.toml has the words)."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("lib", "emulator", "examples", "infra", "functions", "bench", "tests")
VOCABULARY = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text())
NAMES, VARIABLES, PARTICIPLES, VERBS, THINGS = (
    frozenset(VOCABULARY[key].split()) for key in ("names", "variables", "participles", "verbs", "things")
)
PROSE = re.compile(rf"\b({'|'.join(VOCABULARY['prose'])})\b", re.IGNORECASE)
QUOTED = re.compile(r"`[^`]*`")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources() -> dict[str, str]:
    """Return the texts of all modules by path, except this one, which quotes the words."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if not path.samefile(__file__)]
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(paths)}


def pages() -> list[Path]:
    """List the pages and the Terraform."""
    folders = [path for folder in ("docs", "emulator", "infra", "bench") for path in (ROOT / folder).rglob("*.*")]
    return sorted(path for path in [*ROOT.glob("*.md"), *folders] if path.suffix in {".md", ".tf"})


def define(node: ast.AST) -> tuple[str, str] | None:
    """Return kind and name of what a node defines. Names that it only uses belong to where they are defined."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return "function", name
        case ast.ClassDef(name=name):
            return "class", name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return "variable", name
        case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return "variable", name
    return None


def words(name: str) -> list[str]:
    """Split a name in snake_case or CamelCase into its words, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def is_banned(kind: str, name: str) -> bool:
    whole = name.strip("_").lower()
    return bool(NAMES.intersection(words(name))) or whole in (VARIABLES if kind == "variable" else PARTICIPLES)


def find_docstring(body: list[ast.stmt], index: int) -> str | None:
    """Return the text at this place of a body: its docstring, or that of the value before it."""
    match body[index]:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return None


def has_verb(node: Function, text: str) -> bool:
    """Say whether a function's docstring begins with a verb, or the function is one that is read as a value."""
    decorators = {name for decorator in node.decorator_list for name in re.findall(r"\w+", ast.unparse(decorator))}
    first = re.match(r"\W*([A-Za-z]+)", text)
    return bool(decorators & THINGS) or node.name.startswith("test_") or (first is not None and first[1].lower() in VERBS)


def inspect(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what the vocabulary forbids in a module: the rule, and line and words."""
    for node in ast.walk(tree):
        definition = define(node)
        if definition is not None and is_banned(*definition):
            yield "names", f"{getattr(node, 'lineno', 0)}: {' '.join(definition)}"
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            for index, statement in enumerate(node.body):
                text = find_docstring(node.body, index)
                if text is None:
                    continue
                for match in PROSE.finditer(QUOTED.sub("", text)):
                    yield "prose", f"{statement.lineno}: {match[0]}"
                if index == 0 and isinstance(node, Function) and not has_verb(node, text):
                    yield "verbs", f"{statement.lineno}: {node.name}: {text[:40]!r}"


@cache
def findings() -> dict[str, list[str]]:
    """Return what is forbidden in the modules, by rule."""
    by_rule: dict[str, list[str]] = defaultdict(list)
    for path, text in sources().items():
        for rule, finding in inspect(ast.parse(text)):
            by_rule[rule].append(f"{path}:{finding}")
    return by_rule


def test_no_name_uses_a_banned_word():
    assert findings()["names"] == []


def test_no_module_is_named_with_a_banned_word():
    assert [path for path in sources() if NAMES.intersection(words(path))] == []


def test_no_docstring_uses_a_banned_word():
    assert findings()["prose"] == []


def test_no_page_uses_a_banned_word():
    lines = [(path, number, line) for path in pages() for number, line in enumerate(path.read_text().splitlines(), 1)]
    hits = [(path, number, match[0]) for path, number, line in lines if (match := PROSE.search(QUOTED.sub("", line)))]
    assert [f"{path.relative_to(ROOT)}:{number}: {word}" for path, number, word in hits] == []


def test_a_function_s_docstring_begins_with_a_verb():
    """A verb that is missing in `VERBS` is added there."""
    assert findings()["verbs"] == []


def test_no_two_public_classes_share_a_name():
    where = defaultdict(list)
    for folder in ("lib", "emulator", "infra", "functions"):
        for path in (ROOT / folder).rglob("*.py"):
            for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(), re.MULTILINE):
                where[name].append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


def test_exceptions_are_named_errors_without_an_exemption():
    assert [path for path, text in sources().items() if "noqa: N818" in text] == []


SAMPLE = """
def found(): "The thing."
def run_errand(needleSize): "Return what stands there."
class ErrandQueue: "A row of errands."
each = 1
"""


@pytest.mark.parametrize(("rule", "count"), [("names", 5), ("prose", 2), ("verbs", 1)])
def test_every_rule_finds_what_it_forbids(rule, count):
    assert [broken for broken, _ in inspect(ast.parse(SAMPLE))].count(rule) == count
