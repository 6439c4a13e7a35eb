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
    """Every module of the library, imported."""
    for found in pkgutil.walk_packages(ferryman.__path__, "ferryman."):
        if not found.name.endswith(".__main__"):
            yield importlib.import_module(found.name)


def collect(everything: Iterable[ModuleType]) -> list[Use]:
    """Every pattern of the modules, once. Raises `LookupError` for one that cannot be told from the source."""
    everything = list(everything)
    found: dict[tuple[Any, int], tuple[re.Pattern[Any], str]] = {}
    methods: defaultdict[Any, set[str]] = defaultdict(set)
    direct: list[Use] = []
    for module in everything:
        source = inspect.getsource(module)
        if not _MENTIONED.search(source):
            continue  # it may keep patterns, but applies and writes none
        nodes = list(ast.walk(ast.parse(source)))
        for pattern, method in _applied(nodes, module):
            methods[pattern].add(method)
        direct += _written(module, nodes)
    seen: set[int] = set()
    for module in everything:
        for name, value in vars(module).items():
            for pattern in _kept(value, re.Pattern, seen):
                known = found.get((pattern.pattern, pattern.flags))
                if known is None:
                    found[pattern.pattern, pattern.flags] = (pattern, f"{module.__name__}.{name}")
    kept = [Use(pattern, where, frozenset(methods[pattern])) for pattern, where in found.values()]
    return kept + [each for each in direct if (each.pattern.pattern, each.pattern.flags) not in found]


def _applied(nodes: Iterable[ast.AST], module: ModuleType) -> Iterator[tuple[re.Pattern[Any], str]]:
    """The patterns of which a method is called or taken by name, with the method."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
            held: Any = module
            for name in ast.unparse(node.value).split("."):
                held = getattr(held, name, None)
            if isinstance(held, re.Pattern):
                yield held, node.attr


def _written(module: ModuleType, nodes: Collection[ast.AST]) -> Iterator[Use]:
    """The patterns that are handed to functions of `re`."""
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
            inside = inside or {id(node) for each in nodes if isinstance(each, _SCOPES) for node in ast.walk(each)}
            if id(node) not in inside:
                continue  # in a comprehension of the module, which keeps what it makes
            if not isinstance(node.args[0], ast.Name):
                raise LookupError(f"{where}: a pattern made of local names; compile it where the module keeps it") from None
            # handed on from a table: any text that the module keeps may be one
            yield from (Use(each, where, methods) for each in _texts(module))


def _texts(module: ModuleType) -> Iterator[re.Pattern[str]]:
    for text in {each for name, value in vars(module).items() if name[:2] != "__" for each in _kept(value, str, set())}:
        with suppress(re.error):
            yield re.compile(text)


def _function_of_re(node: ast.AST, module: ModuleType) -> str | None:
    """The name of the function of `re` that `node` calls."""
    if not isinstance(node, ast.Call):
        return None
    called = node.func
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        known = vars(module).get(called.value.id) is re
        return called.attr if known and called.attr in FUNCTIONS else None
    if isinstance(called, ast.Name):
        held = vars(module).get(called.id)
        return next((each for each in FUNCTIONS if held is getattr(re, each, re)), None)
    return None


def _evaluated(call: ast.Call, function: str, module: ModuleType) -> tuple[Any, int]:
    """Pattern and flags of a call, evaluated with the names of its module."""
    flags_at = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(function, 2)
    given = {word.arg: word.value for word in call.keywords}
    pattern = call.args[0] if call.args else given["pattern"]
    flags = call.args[flags_at] if len(call.args) > flags_at else given.get("flags")
    values = [eval(compile(ast.Expression(each), "<pattern>", "eval"), vars(module)) for each in (pattern, flags) if each]
    return values[0], values[1] if len(values) > 1 else 0


def _kept(value: Any, kind: type, seen: set[int]) -> Iterator[Any]:
    """What of `kind` `value` holds, however deep."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, kind):
        yield value
        return
    for each in _held(value):
        yield from _kept(each, kind, seen)


def _held(value: Any) -> Iterable[Any]:
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
