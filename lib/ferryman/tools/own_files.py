"""Own files of tools: the module of each built-in tool of a kind, `KIND/NAME.py`, found by the tool's name."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from types import ModuleType

from ferryman.catalog.tools import TOOLS


def load_own_files(package: str) -> Mapping[str, ModuleType]:
    """Return the modules of the tools whose kind is `package`, such as "ferryman.tools.http", by the tools' names.

    Raise ImportError where a tool of the catalog has no file. A function's archive has all files of a package that is named
    here (infra/imports.py).
    """
    kind = package.rpartition(".")[2]
    return {tool.name: resolve_name(f"{package}.{tool.name}") for tool in TOOLS.values() if tool.kind == kind}
