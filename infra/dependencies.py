"""Supply chain: what is imported, declared in pyproject.toml, pinned by the locks and installed fits each other.

`python -m infra.dependencies`, which needs no network.
"""

from __future__ import annotations

import ast
import ensurepip
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from infra import imports, lock
from infra.lock import canonical

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("lib", "emulator", "functions")
"""Folders whose imports `project.dependencies` has to declare: what users install."""

OTHERS = ("infra", "tests", "bench")
OWN_PACKAGES = {"ferryman", *SHIPPED, *OTHERS}
MAIN_GROUP = "dev"
ELSEWHERE = {
    "agents": "openai-agents",
    "google.adk": "google-adk",
    "google.genai": "google-genai",
    "pydantic_ai": "pydantic-ai-slim",
    "readability": "readability-lxml",
}
"""Packages of environments that a command makes for itself (`python -m bench.peers`), whose modules are named otherwise."""

BUNDLED = {"pip": ensurepip.version(), "setuptools": None}
"""What `python -m venv` unpacks from the interpreter itself, from no registry; setuptools up to Python 3.11."""


@dataclass(frozen=True)
class Project:
    """A checkout: what pyproject.toml declares, and the pins of its locks."""

    root: Path

    @cached_property
    def toml(self) -> Mapping[str, Any]:
        """What pyproject.toml says."""
        return tomllib.loads((self.root / "pyproject.toml").read_text())

    def declared(self, *groups: str) -> list[Requirement]:
        """Return what the project itself, its extras and these dependency groups ask for."""
        project = self.toml["project"]
        lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
        lines += (line for group in groups for line in self.toml["dependency-groups"][group])
        return [Requirement(line) for line in lines]

    @cached_property
    def locks(self) -> Mapping[str, list[Requirement]]:
        """Each lock by its path, with what it was made for: the project with `dev`, and every other group alone."""
        groups = self.toml["dependency-groups"]
        alone = {f"locks/{group}.lock": list(map(Requirement, groups[group])) for group in groups if group != MAIN_GROUP}
        return {"requirements.lock": self.declared(MAIN_GROUP), **alone}

    @cached_property
    def pins(self) -> Mapping[str, Mapping[str, lock.Pin]]:
        """The pins of each lock. Raises `lock.Unpinned` where one has no hash, `FileNotFoundError` where a lock is missing."""
        return {path: lock.read((self.root / path).read_text()) for path in self.locks}


def check(root: Path = ROOT) -> list[str]:
    """Return a sentence for everything that does not fit. Raises `lock.Unpinned` and `OSError` where a lock cannot be read."""
    project = Project(root)
    return [*check_imports(project), *check_locks(project), *check_installed(project)]


def check_imports(project: Project) -> Iterator[str]:
    """Check that every distribution that a source imports is declared in pyproject.toml and pinned in a lock."""
    pinned = {name for pins in project.pins.values() for name in pins}
    shipped = {canonical(requirement.name) for requirement in project.declared()}
    every = {canonical(requirement.name) for requirement in project.declared(*project.toml["dependency-groups"])}
    for folders, declared in ((SHIPPED, shipped), (OTHERS, every)):
        for file in sorted(file for folder in folders for file in (project.root / folder).rglob("*.py")):
            for line, name in read_imports(file.read_text()):
                top = name.partition(".")[0]
                if top in sys.stdlib_module_names or top in OWN_PACKAGES:
                    continue
                where = f"{file.relative_to(project.root)}:{line}: {name}"
                try:
                    owners = imports.owners([name]) or imports.owners([top])
                except imports.UnknownImportError:
                    # of a group that is not installed here: mostly, the package is named like its module
                    elsewhere = (owner for module, owner in ELSEWHERE.items() if f"{name}.".startswith(f"{module}."))
                    owners = frozenset({next(elsewhere, canonical(top))})
                if wrong := sorted(owners - declared):
                    yield f"{where} is of {', '.join(wrong)}, which pyproject.toml does not declare"
                elif wrong := sorted(owners - pinned):
                    yield f"{where} is of {', '.join(wrong)}, which no lock pins"


def read_imports(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the dotted name of every import of `source`, wherever in it, those by a written name included.

    Of `from a import b` a.b is answered, since b may be a module of another distribution than a.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, imported.name) for imported in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{imported.name}") for imported in node.names)
        elif isinstance(node, ast.Call) and _name_called(node) in ("importorskip", *imports.DYNAMIC):
            named = (arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant))
            yield from ((node.lineno, name) for name in named if isinstance(name, str))


def _name_called(node: ast.Call) -> str:
    """Return the last name of what is called, empty where it has none."""
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def check_locks(project: Project) -> Iterator[str]:
    """Check that each lock pins what its part of pyproject.toml asks for, in a version that fits, and nothing that nobody
    needs."""
    for path, requirements in project.locks.items():
        pins = project.pins[path]
        roots = {canonical(requirement.name) for requirement in requirements}
        for requirement in requirements:
            if canonical(requirement.name) not in pins:
                yield f"{path} does not pin {requirement.name}, which pyproject.toml asks for: make lock"
            elif (version := pins[canonical(requirement.name)].version) not in requirement.specifier:
                wanted_by = f"pyproject.toml asks for {requirement.specifier}"
                yield f"{path} pins {requirement.name} {version}, and {wanted_by}: make lock"
        needed = set(lock.needed(pins, roots & set(pins)))
        yield from (f"{path} pins {name}, which nothing in it needs: make lock" for name in sorted(set(pins) - needed))
    backend = [Requirement(line) for line in project.toml["build-system"]["requires"]]
    for requirement in backend:
        if str(requirement.specifier) not in {
            str(pinned.specifier) for pinned in project.declared("dev") if pinned.name == requirement.name
        }:
            yield f"[build-system] asks for {requirement}, and the group dev does not: it would be installed without a hash"


def check_installed(project: Project) -> Iterator[str]:
    """Check that the locks pin what is installed beside this Python, and all that it needs."""
    own_name = canonical(str(project.toml["project"]["name"]))
    pinned: dict[str, set[str]] = {}
    for pins in project.pins.values():
        for name, pin in pins.items():
            pinned.setdefault(name, set()).add(pin.version)
    for name, version, needs in sorted(map(_read_metadata, distributions())):
        if name == own_name or (name in BUNDLED and BUNDLED[name] in (None, version)):
            continue
        if version not in pinned.get(name, ()):
            listed = " or ".join(sorted(pinned.get(name, ()))) or "nothing of that name"
            yield f"{name} {version} is installed, and the locks list {listed}"
        for requirement in map(Requirement, needs):
            if (requirement.marker is None or requirement.marker.evaluate({"extra": ""})) and canonical(
                requirement.name
            ) not in pinned:
                yield f"{name} needs {requirement.name}, which no lock pins"


def _read_metadata(distribution: Distribution) -> tuple[str, str, tuple[str, ...]]:
    """Return the canonical name, the version and the requirements of a wheel that is installed, its metadata read once."""
    metadata = distribution.metadata
    return canonical(metadata["Name"]), metadata["Version"], tuple(metadata.get_all("Requires-Dist") or ())


def main() -> int:
    """Tell every fault; the last line counts."""
    try:
        faults = check()
    except (lock.UnpinnedError, OSError) as error:
        faults = [str(error)]
    sys.stdout.writelines(f"{fault}\n" for fault in faults)
    project = Project(ROOT)
    sys.stdout.write(f"{sum(map(len, project.pins.values()))} pins in {len(project.locks)} locks, {len(faults)} faults\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
