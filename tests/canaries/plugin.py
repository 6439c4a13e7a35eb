"""The plugin: a folder for the run, the sink in each of its processes, and the search when all tests are done.

The run fails when a canary is found anywhere, and when something that ran left nothing to search.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.canaries import canary, taps
from tests.canaries.search import Finding, Place, build_patterns, search
from tests.canaries.sink import append

LEVEL = "FERRYMAN_LOG_LEVEL"
WITNESSES = {
    "tests/egress/test_gate.py": ("kept/results-*", "kept/lines-*", "kept/loggers-*"),
    "tests/loop/test_scan.py": ("kept/prompts-*", "kept/records-*"),
    "tests/serving/test_credentials.py": ("kept/answers-*", "kept/lines-*"),
    "tests/journeys/test_command_line.py": ("kept/shell-*",),
    "tests/journeys/test_credentials.py": (
        *("kept/answers-*", "kept/records-*", "kept/prompts-*", "kept/deliveries-*", "kept/travelled-*"),
        *("tmp/**/logs/api_call.log", "tmp/**/logs/orchestrator.log", "tmp/**/*.sqlite*"),
    ),
}
"""The files that must exist for the search, where the tests of a file passed."""

WITHOUT_CANARIES = ("tests/emulator/", "tests/contracts/", "tests/campaigns/crash/")
"""Folders whose tests plant nothing."""

_run = pytest.StashKey[Path]()
_verdict = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Make the run's folder, under which all temporary folders go, and let the sink in."""
    if not hasattr(config, "workerinput"):
        folder = Path(tempfile.mkdtemp(prefix="ferryman-run-"))
        for name in ("canaries", "kept"):
            (folder / name).mkdir()
        os.environ[canary.RUN] = str(folder)
        os.environ[LEVEL] = "DEBUG"
        canary.get_seed()
        canary.record_early()
        config.stash[_run] = folder
        if config.option.basetemp is None:
            config.option.basetemp = folder / "tmp"
    taps.open_all()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lower the log level where tests plant no canaries: logging slows Google's clients, which write out each request."""
    logging.getLogger().setLevel(logging.WARNING if item.nodeid.startswith(WITHOUT_CANARIES) else logging.DEBUG)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what a test wrote to standard output and error; its log is in the sink, the report of a failure is nobody's leak."""
    if not os.environ.get("PYTEST_XDIST_WORKER"):
        append("output", *(text for title, text in report.sections if "log" not in title))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note which files' tests have passed."""
    report: pytest.TestReport = yield  # type: ignore[assignment] # what the hook answers
    if report.when == "call" and report.passed:
        append("passed", item.nodeid.partition("::")[0])
    return report  # type: ignore[return-value] # what the hook answers


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Search everything, in the process that began the run."""
    folder = session.config.stash.get(_run, None)
    if folder is None:
        return
    began = time.monotonic()
    verdict = session.config.stash[_verdict] = search_run(folder)
    verdict[0] += f" in {time.monotonic() - began:.1f} s; CANARY_SEED={canary.get_seed()}"
    if len(verdict) > 1 and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        shutil.rmtree(folder, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report what was searched and what was found."""
    verdict = config.stash.get(_verdict, [])
    for number, line in enumerate(verdict):
        terminalreporter.write_line(line, red=number > 0, green=len(verdict) == 1)


def search_run(folder: Path) -> list[str]:
    """Return a line on what was done, and one for each thing that is wrong."""
    sought = canary.list_canaries(folder)
    places = list(list_files(folder))
    findings = search(places, build_patterns(sought))
    wrong = [str(finding) for finding in findings] + list(_list_missing(folder)) + list(_is_blind())
    size = sum(len(place.read()) for place in places)
    done = f"{len(sought)} canary credentials looked for in {len(places)} files, {size / 1e6:.0f} MB: {len(findings)} found"
    return [done, *wrong]


def list_files(folder: Path) -> Iterator[Place]:
    """List every file that the run left, except the records of its canaries."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.parent.name != "canaries":
            yield Place(str(path.relative_to(folder)), path)


def _list_missing(folder: Path) -> Iterator[str]:
    passed = {line for file in (folder / "kept").glob("passed-*") for line in file.read_text().split()}
    for test, patterns in WITNESSES.items():
        for pattern in patterns if test in passed else ():
            if not any(path.stat().st_size for path in folder.glob(pattern)):
                yield f"{test} ran, and nothing was kept as {pattern}: the search would be blind there"


def _is_blind() -> Iterator[str]:
    """Yield the search itself, on what it must find."""
    decoy = canary.Canary("decoy", "Decoy-7hQ2mZx9LwRt4Bn8Yc3K", "7hQ2mZx9LwRt4Bn8Yc3K")
    findings: list[Finding] = search([Place("decoy", b"log: x" + decoy.secret[2:18].encode())], build_patterns([decoy]))
    if not findings:
        yield "the search did not find what was put before it"
