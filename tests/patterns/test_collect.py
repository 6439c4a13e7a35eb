"""No pattern escapes the collection, wherever a module keeps it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.patterns.collect import collect

SOURCES = {
    "in a name": '_A = re.compile("planted")',
    "written with re's function imported": 'from re import compile as made\n_A = made("planted")',
    "in a dictionary": '_A = {"a": [re.compile("planted")]}',
    "in a tuple of tuples": '_A = ((1, re.compile("planted")),)',
    "from a comprehension": '_A = [re.compile(each) for each in ("planted",)]',
    "in a class": 'class A:\n    a = re.compile("planted")',
    "in a class in a class": 'class A:\n    class B:\n        a = re.compile("planted")',
    "in an instance": 'class A:\n    def __init__(self, a):\n        self.a = a\nB = A(re.compile("planted"))',
    "in slots": 'class A:\n    __slots__ = "a",\n    def __init__(self):\n        self.a = re.compile("planted")\nB = A()',
    "as a default": 'def a(b=re.compile("planted")): ...',
    "as a default by name": 'def a(*, b=re.compile("planted")): ...',
    "in a closure": 'def made(a):\n    return lambda: a\nA = made(re.compile("planted"))',
    "in a partial": 'A = functools.partial(print, re.compile("planted"))',
    "behind a cache": '@functools.lru_cache\ndef a(b=re.compile("planted")): ...',
    "in a method": 'class A:\n    def a(self, text):\n        return re.search("planted", text)',
    "in a function": 'def a(text):\n    return re.sub("planted", "", text)',
    "in a lambda": 'a = lambda text: re.match("planted", text)',
    "in a function that compiles": 'def a():\n    return re.compile("planted")',
    "from names of the module": 'B = "ted"\ndef a(text):\n    return re.fullmatch(f"plan{B}", text)',
    "by keyword": 'def a(text):\n    return re.search(string=text, pattern="planted")',
    "handed on from a table": 'T = {"x": ("planted",)}\ndef a(form, text):\n    return re.fullmatch(form, text)',
}


def collected(source: str, folder: Path) -> set[str]:
    path = folder / "ferryman_planted.py"
    path.write_text(f"import functools\nimport re\n{source}\n")
    spec = importlib.util.spec_from_file_location("ferryman_planted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {use.pattern.pattern for use in collect([module])}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_pattern_is_collected(kind: str, tmp_path: Path) -> None:
    assert "planted" in collected(SOURCES[kind], tmp_path)


def test_a_pattern_made_of_local_names_is_told(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="local names"):
        collected('def a(b, text):\n    return re.search("x" + b, text)', tmp_path)
