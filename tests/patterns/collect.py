"""Collect every regular expression of the library: compiled ones wherever they are kept, and those that functions write out."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import ferryman

FUNCTIONS = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
_MENTIONED = re.compile(rf"\b({'|'.join(FUNCTIONS)})\b")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Use(NamedTuple):
    """A pattern, where it is, and the methods by which it is applied; none where they are not known."""

    pattern: re.Pattern[Any]
    where: str
    methods: frozenset[str]


def modules() -> Iterator[ModuleType]:
    """Yield every module of the library, imported."""
    for package in pkgutil.walk_packages(ferryman.__path__, "ferryman."):
        if not package.name.endswith(".__main__"):
            yield importlib.import_module(package.name)


def collect(everything: Iterable[ModuleType]) -> list[Use]:
    """Return every pattern of the modules, once. Raises `LookupError` for one that cannot be told from the source."""
    everything = list(everything)
    patterns: dict[tuple[Any, int], tuple[re.Pattern[Any], str]] = {}
    methods: defaultdict[Any, set[str]] = defaultdict(set)
    direct: list[Use] = []
    for module in everything:
        source = inspect.getsource(module)
        if not _MENTIONED.search(source):
            continue  # it may keep patterns, but applies and writes none
        nodes = list(ast.walk(ast.parse(source)))
        for pattern, method in _applied(nodes, module):
            methods[pattern].add(method)
        direct += _collect_calls(module, nodes)
    seen: set[int] = set()
    for module in everything:
        for name, value in vars(module).items():
            for pattern in _iterate_values(value, re.Pattern, seen):
                known = patterns.get((pattern.pattern, pattern.flags))
                if known is None:
                    patterns[pattern.pattern, pattern.flags] = (pattern, f"{module.__name__}.{name}")
    uses = [Use(pattern, where, frozenset(methods[pattern])) for pattern, where in patterns.values()]
    return uses + [use for use in direct if (use.pattern.pattern, use.pattern.flags) not in patterns]


def _applied(nodes: Iterable[ast.AST], module: ModuleType) -> Iterator[tuple[re.Pattern[Any], str]]:
    """Yield the patterns of which a method is called or taken by name, with the method."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
            value: Any = module
            for name in ast.unparse(node.value).split("."):
                value = getattr(value, name, None)
            if isinstance(value, re.Pattern):
                yield value, node.attr


def _collect_calls(module: ModuleType, nodes: Collection[ast.AST]) -> Iterator[Use]:
    """Yield the patterns that are handed to functions of `re`."""
    inside: set[int] = set()
    for node in nodes:
        function = _function_of_re(node, module)
        if function is None or not isinstance(node, ast.Call):
            continue
        where = f"{module.__name__}, line {node.lineno}"
        methods = frozenset(() if function == "compile" else (function,))
        try:
            yield Use(re.compile(*_evaluated(node, function, module)), where, methods)
        except NameError:
            inside = inside or {id(node) for scope in nodes if isinstance(scope, _SCOPES) for node in ast.walk(scope)}
            if id(node) not in inside:
                continue  # in a comprehension of the module, which keeps what it makes
            if not isinstance(node.args[0], ast.Name):
                raise LookupError(f"{where}: a pattern made of local names; compile it where the module keeps it") from None
            # handed on from a table: any text that the module keeps may be one
            yield from (Use(text, where, methods) for text in _texts(module))


def _texts(module: ModuleType) -> Iterator[re.Pattern[str]]:
    for text in {
        text for name, value in vars(module).items() if name[:2] != "__" for text in _iterate_values(value, str, set())
    }:
        with suppress(re.error):
            yield re.compile(text)


def _function_of_re(node: ast.AST, module: ModuleType) -> str | None:
    """Return the name of the function of `re` that `node` calls."""
    if not isinstance(node, ast.Call):
        return None
    called = node.func
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        known = vars(module).get(called.value.id) is re
        return called.attr if known and called.attr in FUNCTIONS else None
    if isinstance(called, ast.Name):
        value = vars(module).get(called.id)
        return next((function for function in FUNCTIONS if value is getattr(re, function, re)), None)
    return None


def _evaluated(call: ast.Call, function: str, module: ModuleType) -> tuple[Any, int]:
    """Return pattern and flags of a call, evaluated with the names of its module."""
    flags_at = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(function, 2)
    keywords = {word.arg: word.value for word in call.keywords}
    pattern = call.args[0] if call.args else keywords["pattern"]
    flags = call.args[flags_at] if len(call.args) > flags_at else keywords.get("flags")
    values = [eval(compile(ast.Expression(part), "<pattern>", "eval"), vars(module)) for part in (pattern, flags) if part]
    return values[0], values[1] if len(values) > 1 else 0


def _iterate_values(value: Any, kind: type, seen: set[int]) -> Iterator[Any]:
    """Yield what of `kind` `value` holds, however deep."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, kind):
        yield value
        return
    for member in _list_members(value):
        yield from _iterate_values(member, kind, seen)


def _list_members(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, FunctionType):
        return _of_function(value)
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget]
    of_ours = (value if isinstance(value, type) else type(value)).__module__.startswith("ferryman")
    if not of_ours:
        return [value.__wrapped__] if hasattr(value, "__wrapped__") else ()
    slots = [getattr(value, name, None) for name in getattr(value, "__slots__", ()) if not isinstance(value, type)]
    return [*getattr(value, "__dict__", {}).values(), *slots]


def _of_function(function: FunctionType) -> Iterator[Any]:
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from vars(function).values()
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # never filled
            yield cell.cell_contents
