"""`make mutants`: change the library a little in every place, and see whether the tests of its package notice.

    python -m tests.campaigns.mutants [domain egress …] [--sample N] [--seed S]

mutmut makes the mutants and runs, for each, those tests of the package that reach it, in build/mutants/PACKAGE. Without
--sample every mutant is tried, which takes hours. A mutant that changes only the words of a message is not counted. The
survivors are written to build/mutants/PACKAGE/survivors.txt; the exit code is 1 where fewer than 90 % are killed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build" / "mutants"
PACKAGES: Mapping[str, tuple[str, ...]] = {
    **{name: (f"tests/{name}",) for name in ("archives", "egress", "loop", "metering", "pages", "searxng")},
    "domain": ("tests/domain", "tests/archives", "tests/metering"),
    "framing": ("tests/framing", "tests/egress/test_frames.py"),
    "objects": ("tests/objects", "tests/contracts/test_objects.py"),
    "tools": ("tests/tools", "tests/contracts/test_files.py"),
}
"""The packages that are tried, and the tests that each is held to: its own, and others that are about nothing else."""
COPIED = ("tests", "emulator", "infra", "functions", "bench", "docs", "pyproject.toml", "README.md", "Makefile", "CHANGELOG.md")
IGNORED = (
    *("tests/egress/test_linear.py", "tests/egress/leaks/test_memory.py"),  # measure CPU and memory
    "tests/egress/test_upstreams.py",  # waits for deadlines of two seconds
)
"""Tests that tell how much a check costs, and not what it says: for a mutant that survives each would take seconds."""

ARGUMENTS = (
    *("-p", "no:cacheprovider"),
    # it fails a run of a few tests of a file where only the others leave something to search: that would count as killed
    *("-p", "no:tests.canaries.plugin"),
    "--hypothesis-seed=1",
    *(f"--ignore={path}" for path in IGNORED),
)
SEED = {"CANARY_SEED": "1"}
"""The keys of the tests: with others, the verdict on one mutant could differ from that on the next for no other reason."""

BAR = 0.9
NOBODY = "nothing that a mutant is called"
KILLED = ("killed", "timeout", "segfault", "suspicious", "caught by type check")
STRING = re.compile(r"""[frb]*(?:"[^"\n]*"|'[^'\n]*')""")

CONFIGURATION = """
[tool.mutmut]
source_paths = ["src"]
only_mutate = ["src/ferryman/{package}/*"]
pytest_add_cli_args_test_selection = {selection}
pytest_add_cli_args = {arguments}
also_copy = {copied}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageResult:
    """What became of the mutants of a package: how many of each state, without those that change only words."""

    package: str
    states: Counter[str]

    @property
    def share(self) -> float:
        """The share of the mutants that the tests killed."""
        return sum(self.states[state] for state in KILLED) / max(1, self.states.total())


def main() -> int:
    """Try the mutants of each package; print a table, and return 0 where the bar holds for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(PACKAGES)}; all without any")
    parser.add_argument("--sample", type=int, default=0, help="so many of each package, chosen at random; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    results = [try_package(package, options.sample, options.seed) for package in options.packages or PACKAGES]
    print("| package | mutants | killed | survived | reached by no test | share |\n|---|---|---|---|---|---|")
    for result in results:
        killed = sum(result.states[state] for state in KILLED)
        counts = (result.states.total(), killed, result.states["survived"], result.states["no tests"])
        print(f"| {result.package} | {' | '.join(map(str, counts))} | {result.share:.1%} |")
    return 0 if all(result.share >= BAR for result in results) else 1


def try_package(package: str, sample: int, seed: int) -> PackageResult:
    """Try the mutants of one package, `sample` of them or all, and write down which survived."""
    folder = prepare_folder(package)
    names = list_mutants(folder)
    if sample:
        names = sorted(random.Random(seed).sample(names, min(sample, len(names))))
    print(f"{package}: {len(names)} mutants", flush=True)
    run_mutmut(folder, "run", "--max-children", str(os.cpu_count() or 1), *names, quiet=False)
    states = read_states(folder, names)
    changes = {name: show_change(folder, name) for name, state in states.items() if state not in KILLED}
    counted = {name: state for name, state in states.items() if name not in changes or not changes_only_words(changes[name])}
    survivors = [f"{name}: {counted[name]}\n" + "\n".join(changes[name]) for name in changes if name in counted]
    (folder / "survivors.txt").write_text("\n\n".join(survivors))
    return PackageResult(package=package, states=Counter(counted.values()))


def prepare_folder(package: str) -> Path:
    """Return a fresh folder with the library under `src`, the layout that mutmut knows, and all that tests read."""
    folder = BUILD / package
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", "build")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "lib", folder / "src", ignore=ignored)
    (folder / "lib").symlink_to("src")
    copied = [name for name in COPIED if name not in ("tests", "pyproject.toml")]
    with (folder / "pyproject.toml").open("a") as file:
        file.write(
            CONFIGURATION.format(
                package=package,
                selection=json.dumps(PACKAGES[package]),
                arguments=json.dumps(ARGUMENTS),
                copied=json.dumps(copied),
            )
        )
    return folder


def list_mutants(folder: Path) -> list[str]:
    """Have mutmut write the mutants, and return their names."""
    run_mutmut(folder, "run", NOBODY)
    return sorted(name for _, data in _read_results(folder) for name in data)


def read_states(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the state of each mutant of `names`: killed, survived, not reached and the like."""
    from mutmut.stats import status_by_exit_code

    codes = {name: code for _, data in _read_results(folder) for name, code in data.items()}
    return {name: status_by_exit_code[codes[name]] for name in names}


def _read_results(folder: Path) -> Iterable[tuple[Path, dict[str, int | None]]]:
    for path in sorted((folder / "mutants").rglob("*.py.meta")):
        yield path, json.loads(path.read_text())["exit_code_by_key"]


def show_change(folder: Path, name: str) -> list[str]:
    """Return the lines that a mutant takes out and puts in."""
    diff = run_mutmut(folder, "show", name)
    return [line for line in diff.splitlines() if re.match(r"[-+](?![-+])", line)]


def changes_only_words(change: Sequence[str]) -> bool:
    """Tell whether both sides of a change are the same but for texts with a space in them: a name has none."""
    before, after = ("\n".join(STRING.sub(_omit_words, line[1:]) for line in change if line[0] == sign) for sign in "-+")
    return before == after


def _omit_words(text: re.Match[str]) -> str:
    return '""' if " " in text[0] else text[0]


def run_mutmut(folder: Path, *arguments: str, quiet: bool = True) -> str:
    """Run mutmut in `folder`; return what it printed, or let it print."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    environment = {**os.environ, **SEED}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, check=False, stdout=subprocess.PIPE if quiet else None
    )
    return done.stdout or ""


if __name__ == "__main__":
    raise SystemExit(main())
