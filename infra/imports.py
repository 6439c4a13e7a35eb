"""Imports: what a function's main.py leads to, at its start or in the middle of a call, found by reading the sources."""

from __future__ import annotations

import ast
import csv
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

from infra.lock import canonical

TYPES_ONLY = "TYPE_CHECKING"
DYNAMIC = ("import_module", "__import__")
OWN_FILES = "load_own_files"
"""What imports every module of the package that its argument names: the own files of tools."""


class UnknownImportError(Exception):
    """An import leads nowhere, or cannot be read off the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """`modules`: those of the library, by name, with their files. `external`: every other dotted name that is imported."""

    modules: Mapping[str, Path]
    external: frozenset[str]


def closure(main: Path, root: Path) -> Closure:
    """Return everything that `main` imports; `root` is the folder of the library. Imports inside functions count.

    Those under `if TYPE_CHECKING` do not. Raises `UnknownImportError` for an import whose name is only made while the code
    runs.
    """
    modules: dict[str, Path] = {}
    external: set[str] = set()
    sought: set[str] = set()
    waiting = [main]
    while waiting:
        reading = waiting.pop()
        try:
            names = _names(reading.read_text())
        except UnknownImportError as error:
            raise UnknownImportError(f"{reading}:{error}") from None
        for name in _expand(names, root):
            if name.partition(".")[0] in sys.stdlib_module_names:
                continue
            if not (root / name.partition(".")[0]).is_dir():
                external.add(name)
                continue
            # importing a module runs the packages above it first
            for upward in _upwards(name):
                if upward in sought:
                    continue
                sought.add(upward)
                file = _file(root, upward)
                if file is not None:
                    modules[upward] = file
                    waiting.append(file)
    return Closure(modules=modules, external=frozenset(external))


def _expand(names: Iterable[str], root: Path) -> Iterator[str]:
    """Yield the names, and instead of `a.b.*` every module of that package."""
    for name in names:
        if name.endswith(".*"):
            folder = root.joinpath(*name.split(".")[:-1])
            yield from (f"{name[:-1]}{file.stem}" for file in sorted(folder.glob("*.py")) if file.stem != "__init__")
        else:
            yield name


def owners(names: Iterable[str]) -> frozenset[str]:
    """Return the installed distributions, by canonical name, that these modules come from. Raises `UnknownImportError`."""
    owned = _installed()
    distributions = set()
    for name in names:
        owner = next((owned[upward] for upward in reversed(list(_upwards(name))) if upward in owned), None)
        if owner is None:
            # a folder that several distributions share holds nothing itself
            if any(module.startswith(f"{name}.") for module in owned):
                continue
            raise UnknownImportError(f"no installed package holds {name}")
        distributions.add(owner)
    return frozenset(distributions)


@cache
def _installed() -> Mapping[str, str]:
    """Return the distribution of each module that is installed here."""
    return {
        module: canonical(distribution.metadata["Name"])
        for distribution in distributions()
        for file in _list_files(distribution)
        if (module := _module(file))
    }


def _list_files(distribution: Distribution) -> Iterable[str]:
    """Return the files of a distribution: as a wheel's record lists them, which takes less time to read, or any other."""
    record = distribution.read_text("RECORD")
    if record is None:
        return map(str, distribution.files or ())
    return (row[0] for row in csv.reader(record.splitlines()) if row)


@cache
def _names(source: str) -> frozenset[str]:
    """Return every dotted name that `source` imports; of `from a import b` both a and a.b, since b may be a module."""
    names: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and TYPES_ONLY in ast.unparse(node.test):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise UnknownImportError(f"{node.lineno}: a relative import")
            names |= {node.module, *(f"{node.module}.{imported.name}" for imported in node.names)}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == OWN_FILES:
            (package,) = node.args
            if not isinstance(package, ast.Constant) or not isinstance(package.value, str):
                raise UnknownImportError(f"{node.lineno}: an import by a name that only the running code knows")
            names.add(f"{package.value}.*")
            continue
        elif isinstance(node, ast.Call) and any(map(_by_name, (node.func, *node.args))):
            # import_module("x") and to_thread(import_module, "x") say which one
            literals = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            if len(literals) != 1:
                raise UnknownImportError(f"{node.lineno}: an import by a name that only the running code knows")
            names.add(literals[0])
            waiting += [argument for argument in (node.func, *node.args) if not _by_name(argument)]
            continue
        elif isinstance(node, ast.expr) and _by_name(node):
            raise UnknownImportError(f"{node.lineno}: an import by a name that only the running code knows")
        waiting += ast.iter_child_nodes(node)
    return frozenset(names)


def _by_name(node: ast.AST) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) in DYNAMIC


def _upwards(name: str) -> Iterator[str]:
    """Yield a, a.b and a.b.c of a.b.c."""
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _file(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split("."))
    candidates = (place / "__init__.py", place.with_suffix(".py") if "." in name else place / "__init__.py")
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _module(file: str) -> str:
    """Return the dotted name of a file of a distribution, and an empty one where it is no module."""
    path = file.removesuffix("/__init__.py")
    if path == file:
        stem, dot, ending = file.rpartition(".")
        if not dot or ending not in ("py", "so", "pyd"):
            return ""
        folder, slash, last = stem.rpartition("/")
        path = f"{folder}{slash}{last.partition('.')[0]}"
    return path.replace("/", ".")
