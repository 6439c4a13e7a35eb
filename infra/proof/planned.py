"""What was planned last: the blast radius, kept beside the configuration it was planned from, for tests that plan nothing."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from infra.proof.matrix import INFRA, Matrix

PLANNED = INFRA / "proof" / "planned.json"
PATTERNS = ("*.tf", "*.json", "*.rules", "network/*.tf", "tests/*.tftest.hcl")
STALE = "the configuration is not what was planned last: .venv/bin/python -m infra.proof --write"


def configuration() -> list[Path]:
    """Return the files that Terraform reads."""
    return sorted({path for pattern in PATTERNS for path in INFRA.glob(pattern)})


def digest() -> str:
    """Return the digest of those files."""
    whole = hashlib.sha256()
    for path in configuration():
        content = path.read_bytes()
        whole.update(f"{path.relative_to(INFRA)} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def write(matrix: Matrix) -> None:
    PLANNED.write_text(json.dumps({"of": digest(), "matrix": matrix}, indent=1) + "\n")


def read() -> Matrix:
    """Return the blast radius that was planned."""
    matrix: Matrix = json.loads(PLANNED.read_text())["matrix"]
    return matrix


def current() -> bool:
    """Return whether it was planned from the configuration as it is."""
    return bool(json.loads(PLANNED.read_text())["of"] == digest())
