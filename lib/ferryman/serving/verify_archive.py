"""Verifying an archive offline: every digest in it, and the receipts and the record of each execution."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ferryman import verify_receipts as verifier
from ferryman.archives.reading import iterate_files, read_archive
from ferryman.domain.archives.file_lines import FILES
from ferryman.domain.archives.lines import ArchiveError, read_lines
from ferryman.domain.archives.manifest import MANIFEST
from ferryman.serving.archived import ArchivedExecution, Placed, iterate_executions
from ferryman.serving.archived_files import FileCheck
from ferryman.serving.archived_people import SHAPES, read_people_line

EXECUTIONS = "executions"
_KEY = re.compile(f"{verifier.VERSION}:{verifier.HEX}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found out of an execution: an exit code of the verifier's, and a sentence."""

    execution: str
    code: int
    sentence: str


def read_keys(options: Iterable[str]) -> dict[str, str]:
    """Return public keys by version: each option is VERSION:HEX, or a file of such. Raise ValueError and OSError."""
    pins = [pin for key in options for pin in ([key] if ":" in key else Path(key).read_text().split() or [""])]
    if not all(_KEY.fullmatch(pin) for pin in pins):
        raise ValueError("a public key is not VERSION:HEX")
    return dict(pin.split(":") for pin in pins)


def verify_archive(
    path: Path,
    pinned: Mapping[str, str],
    *,
    count: Callable[[int], None] = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Verdict]:
    """Yield what is found out of each execution in the archive. `pinned` keys replace those of the archive.

    `tell` hears a sentence of each of the workspace's files that the archive names and does not have, and one of all others.
    Raise `ArchiveError` where it is not whole, before anything is yielded, or where its lines are not what they must be.
    """
    with path.open("rb") as file:
        manifest = read_archive(file, count=count)
    executions, files = 0, FileCheck(tell)
    with path.open("rb") as file:
        for _, execution in iterate_executions(_iterate_lines(file, files)):
            executions += 1
            yield _verify(execution, pinned, manifest.keys)
    files.end(manifest)
    if executions != manifest.counts[EXECUTIONS]:
        raise ArchiveError(MANIFEST, f"counts.executions: is {manifest.counts[EXECUTIONS]}, and there are {executions}")


def _iterate_lines(file: IO[bytes], files: FileCheck) -> Iterator[Placed]:
    """Yield the lines of executions; read those about people and files, too, and raise `ArchiveError` where one is wrong."""
    for name, data in iterate_files(file):
        kind = name.partition("-")[0]
        if kind == EXECUTIONS:
            yield from read_lines(name, data)
        elif kind in SHAPES:
            for place, line in read_lines(name, data):
                read_people_line(place, kind, line)
        elif kind == FILES:
            for place, line in read_lines(name, data):
                files.read(place, line)


def _verify(execution: ArchivedExecution, pinned: Mapping[str, str], keys: Mapping[str, str]) -> Verdict:
    name, chain = execution.place["execution"], execution.to_chain(keys)
    try:
        code, sentence = verifier.verify(chain, pinned or None)
        wrong, bare = verifier.compare(chain, execution.to_record())
    except verifier.VerificationError as fault:
        return Verdict(name, verifier.WRONG, f"NOT GENUINE: {fault}.")
    if wrong:
        return Verdict(name, verifier.WRONG, f"DOES NOT FIT: {', '.join(wrong)}.")
    if bare and code == verifier.WHOLE:
        return Verdict(name, verifier.OPEN, f"NOT COVERED: {', '.join(bare)}.")
    return Verdict(name, code, sentence)
