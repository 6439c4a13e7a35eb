"""False positives: scans foreign text (standard library, site-packages) for credentials that were never in it.

    python bench/false_positives.py [MEGABYTES]

Prints the hits, which must be none, and the speed.
"""

from __future__ import annotations

import random
import string
import sys
import sysconfig
import time
from itertools import chain
from pathlib import Path

from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.egress.leaks import Scanner

CHUNK = 50_000
SUFFIXES = (".py", ".txt", ".md", ".rst", ".html", ".json", ".js", ".css", ".pyi", ".h", ".c", ".xml", ".csv", ".pem")
ALPHABETS = {
    "base62": string.ascii_letters + string.digits,
    "hexadecimal": "0123456789abcdef",
    "digits": string.digits,
    "capitals": string.ascii_uppercase + string.digits,
}


def credentials() -> list[Credential]:
    """Ten credentials of the shortest length that may be registered, of each alphabet."""
    dice = random.Random(3)
    found = []
    for kind, alphabet in ALPHABETS.items():
        for number in range(10):
            label = Label(
                owner="o",
                task="t",
                name=f"{kind.upper()}_{number}",
                version=1,
                service="s",
                auth_type=AuthType.BEARER,
                hosts=(),
            )
            found.append(Credential(label=label, secret=Secret("".join(dice.choice(alphabet) for _ in range(16)))))
    return found


def main() -> int:
    most = float(sys.argv[1] if len(sys.argv) > 1 else 100) * 1_000_000
    scanner = Scanner(credentials())
    scanned = hits = slowest = 0.0
    began = time.perf_counter()
    roots = (Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")))
    for path in chain.from_iterable(sorted(root.rglob("*")) for root in roots):
        if scanned >= most:
            break
        if path.suffix not in SUFFIXES or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for start in range(0, len(text), CHUNK):
            chunk = text[start : start + CHUNK]
            before = time.perf_counter()
            finding = scanner.find(chunk)
            slowest = max(slowest, time.perf_counter() - before)
            if finding:
                hits += 1
                print(f"hit: {finding.name} in {path} at {start}")
        scanned += len(text)
    seconds = time.perf_counter() - began
    megabytes = scanned / 1_000_000
    print(f"{hits:.0f} hits in {megabytes:.1f} MB, {megabytes / seconds:.2f} MB/s, slowest chunk {slowest * 1_000:.0f} ms")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
