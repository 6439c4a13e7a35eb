"""`python -m tests.campaigns.fuzz SECONDS [TARGET]`: drive each target with bytes that atheris makes up, guided by coverage.

Findings are kept in .fuzz/TARGET/found, each a file to begin the next run with; the exit code is 1 where there was one.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[3] / ".fuzz"
TARGETS = ("url", "scanner", "framer", "reader", "gate", "archive", "mcp", "mcp_answer")
BYTES_MAX, HANG_SECONDS, MEMORY_MB = 4_096, 25, 2_048


def main(seconds: int) -> int:
    """Drive every target in a process of its own, one after the other."""
    if importlib.util.find_spec("atheris") is None:
        print("fuzz: skipped, since atheris is not installed and could not be; it has wheels for Linux on x86-64")
        return 0
    failed = 0
    for name in TARGETS:
        done = subprocess.run(
            [sys.executable, "-m", "tests.campaigns.fuzz", str(seconds), name], capture_output=True, text=True, check=False
        )
        runs = re.search(r"Done (\d+) runs", done.stderr)
        failed += done.returncode != 0
        print(f"fuzz {name}: {int(runs[1]) if runs else 0:,} runs, {int(done.returncode != 0)} found", flush=True)
        if done.returncode:
            print(done.stderr[-4_000:])
    return 1 if failed else 0


def drive(name: str, seconds: int) -> None:
    """Drive one target until the time is over or there is a finding, and end the process."""
    import atheris

    with atheris.instrument_imports(include=["ferryman", "h11", "httpcore"]):
        from tests.campaigns.fuzz.seeds import SEEDS
        from tests.campaigns.fuzz.targets import TARGETS as KNOWN

    corpus, findings = FOLDER / name / "corpus", FOLDER / name / "found"
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    for index, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{index}").write_bytes(seed)
    options = [f"-max_total_time={seconds}", f"-max_len={BYTES_MAX}", f"-timeout={HANG_SECONDS}", f"-rss_limit_mb={MEMORY_MB}"]
    atheris.Setup([sys.argv[0], str(corpus), f"-artifact_prefix={findings}/", *options], KNOWN[name])
    atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        drive(sys.argv[2], int(sys.argv[1]))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))
