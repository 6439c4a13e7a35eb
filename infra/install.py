"""Installation: the four steps of `make install`, with how far each is; needs nothing but Python's standard library.

`python3 -m infra.install`, from the checkout, by the Python that the environment is to have. On a terminal the last line is a
bar of packages fetched, packages installed and files compiled, of all; elsewhere each step is a line when it begins, and
each part of the longest one when it ends. The exit code is 1 where a step failed, after what the program that failed wrote.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
STEPS = 4
LOOK_S = 0.2
"""Between two looks at how far a step is; counting the files of an installation takes about a tenth of this."""

WIDTH = 20
RESOLVED = re.compile(r"^Resolved (\d+) packages?\b", re.MULTILINE)
"""What uv says once it knows which pins of the lock this machine needs."""

MILESTONES = re.compile(r"^(?:Resolved|Prepared|Installed|Bytecode compiled) \d+ \w+ in .*(?=\n)", re.MULTILINE)
"""What uv says once a part of its work is done."""

Progress = tuple[str, int, int]
"""What is counted, how much of it is done, and how much there is; 0 where that is not known yet."""


class StepFailedError(RuntimeError):
    """A program of a step ended with an error; the text is its output."""


class ProgressLine:
    """The steps as a person sees them: a bar in the last line of a terminal, lines anywhere else."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._step = ""
        self._milestones = 0

    def begin(self, number: int, what: str) -> None:
        """Show that a step begins."""
        self._step, self._milestones = f"{number} of {STEPS}: {what}", 0
        if not self._is_terminal:
            self._write(f"{self._step} …\n")

    def show(self, progress: Progress | None, seconds: float) -> None:
        """Draw the bar again, where there is one."""
        if not self._is_terminal:
            return
        counted = ""
        if progress is not None and progress[2]:
            what, done, total = progress
            filled = WIDTH * min(done, total) // total
            counted = f"  {'━' * filled}{'┄' * (WIDTH - filled)}  {done:,} of {total:,} {what}"
        columns = os.get_terminal_size(self._out.fileno()).columns or 80
        self._write(f"\r\x1b[K{f'{self._step}{counted}  {seconds:.0f} s'[: columns - 1]}")

    def repeat_milestones(self, output: str) -> None:
        """Print what has been done since the last time, where there is no bar that shows it."""
        milestones = [] if self._is_terminal else MILESTONES.findall(output)
        for milestone in milestones[self._milestones :]:
            self._write(f"   {milestone}\n")
        self._milestones = len(milestones)

    def end(self, progress: Progress | None) -> None:
        """Leave the step's last figures behind in place of the bar."""
        if self._is_terminal:
            what = "" if progress is None else f": {progress[1]:,} {progress[0]}"
            self._write(f"\r\x1b[K{self._step}{what}\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


@dataclass(frozen=True)
class Installation:
    """A checkout at `root`, and the `line` that shows its progress."""

    root: Path
    line: ProgressLine

    @property
    def venv(self) -> Path:
        """The environment that everything is installed into."""
        return self.root / ".venv"

    def install(self) -> None:
        """Take the four steps. Raise `StepFailedError`."""
        python, uv = self.venv / "bin/python", str(self.venv / "bin/uv")
        make = [sys.executable, "-m", "venv", str(self.venv)]
        self._take(1, "making .venv", [] if python.exists() else make)
        quiet = ("--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps", "--require-hashes")
        fetch = [str(python), "-m", "pip", "install", *quiet, "--requirement", "locks/bootstrap.lock"]
        self._take(2, "fetching uv, which installs the rest", fetch)
        pinned = ("--no-build", "--no-deps", "--require-hashes", "--requirements", "requirements.lock", "--compile-bytecode")
        self._take(3, "packages", [uv, "pip", "install", "--python", str(python), *pinned], _Packages(uv, self.venv).measure)
        itself = ("--quiet", "--no-deps", "--no-build-isolation", "--editable", ".")
        self._take(4, "installing Ferryman itself", [uv, "pip", "install", "--python", str(python), *itself])

    def _take(
        self, number: int, what: str, command: list[str], measure: Callable[[str], Progress | None] = lambda _: None
    ) -> None:
        self.line.begin(number, what)

        def look(output: str, seconds: float) -> None:
            self.line.repeat_milestones(output)
            self.line.show(measure(output), seconds)

        output = _run(command, self.root, look) if command else ""
        self.line.repeat_milestones(output)
        self.line.end(measure(output))


class _Packages:
    """How far uv is with the packages: fetched into its cache, installed, compiled."""

    def __init__(self, uv: str, venv: Path) -> None:
        self._venv = venv
        cache = subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=False)  # noqa: S603 - just installed
        self._cache = Path(cache.stdout.strip() or os.devnull)
        self._fetched_before = self._count_fetched()
        self._installed_before = self._count_installed()

    def measure(self, output: str) -> Progress | None:
        """Return what uv does now and how far it is, from its output and from what is on the disk."""
        resolved = RESOLVED.search(output)
        if resolved is None:
            return None
        total, installed = int(resolved[1]), self._count_installed()
        if "Installed" not in output and installed < total:
            if installed == self._installed_before:
                return "fetched", self._count_fetched() - self._fetched_before, total
            return "installed", installed, total
        if "Bytecode compiled" in output:
            return "installed and compiled", total, total
        sources = [path for path in self._venv.glob("lib/python*/site-packages/**/*.py*") if path.suffix in (".py", ".pyc")]
        compiled = sum(path.suffix == ".pyc" for path in sources)
        return "files compiled", compiled, len(sources) - compiled

    def _count_installed(self) -> int:
        return sum(1 for _ in self._venv.glob("lib/python*/site-packages/*.dist-info"))

    def _count_fetched(self) -> int:
        # one folder for each wheel that is unpacked; where uv names it otherwise one day, the bar begins with what is installed
        return sum(1 for _ in self._cache.glob("archive-v*/*"))


def _run(command: list[str], root: Path, look: Callable[[str, float], None]) -> str:
    """Run a program and look at its output so far, every `LOOK_S` seconds; return all its output.

    Raise `StepFailedError`.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        with subprocess.Popen(command, cwd=root, stdin=subprocess.DEVNULL, stdout=output, stderr=output) as child:  # noqa: S603 - named above
            while True:
                try:
                    child.wait(LOOK_S)
                    break
                except subprocess.TimeoutExpired:
                    look(_read(output), time.monotonic() - began)
        text = _read(output)
    if child.returncode:
        raise StepFailedError(f"{Path(command[0]).name} ended with {child.returncode}:\n{text.rstrip()}")
    return text


def _read(file: TextIO) -> str:
    # by its place, since the child writes through the same open file
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")


def main() -> int:
    try:
        Installation(root=ROOT, line=ProgressLine(sys.stderr if sys.stderr.isatty() else sys.stdout)).install()
    except StepFailedError as error:
        sys.stderr.write(f"\n{error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"\nThe installation cannot go on: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
