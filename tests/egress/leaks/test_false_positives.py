"""False positives: text that nobody here wrote holds no credential."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from ferryman.egress.leaks import SecretScanner
from tests.egress.plants import VALUES, credential, text

MEGABYTES = 3
CHUNK = 50_000


def test_megabytes_of_the_standard_library_are_clean() -> None:
    scanner = SecretScanner([credential(value, kind.upper().replace("-", "_")) for kind, value in VALUES.items()])
    scanned, findings = 0, []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        source = path.read_text(encoding="utf-8", errors="replace")
        for start in range(0, len(source), CHUNK):
            findings += [(path.name, start)] if scanner.find(source[start : start + CHUNK]) else []
        scanned += len(source)
        if scanned > MEGABYTES * 1_000_000:
            break
    print(f"leaks, false positives: {len(findings)} in {scanned:,} characters")
    assert scanned > 1_000_000
    assert not findings


def test_random_keys_of_the_shortest_kind_are_not_found_either() -> None:
    scanner = SecretScanner([credential(text(16), f"K{number}") for number in range(100)])
    source = (Path(sysconfig.get_path("stdlib")) / "typing.py").read_text()
    assert scanner.find(source) is None
