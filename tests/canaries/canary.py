"""Canary credentials: those of all tests, new in each run, each recorded for the search at the run's end.

A run has a folder, which its first process makes and its workers find by a variable; what is planted there is the same in all
a name has the same value in all. To repeat a run, set CANARY_SEED to the seed that the search prints.
"""

from __future__ import annotations

import json
import os
import secrets
import string
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

RUN, SEED = "CANARY_RUN", "CANARY_SEED"
LETTERS = string.ascii_letters + string.digits

_early: list[Canary] = []


@dataclass(frozen=True, slots=True)
class Canary:
    """A credential's value, and the random part of it: the rest may stand anywhere."""

    name: str
    value: str
    secret: str


@cache
def get_seed() -> str:
    """Return the run's seed; beside a run, one of this process."""
    return os.environ.setdefault(SEED, secrets.token_hex(16))


def create_key(name: str, length: int = 32, alphabet: str = LETTERS, *, before: str = "", after: str = "") -> str:
    """Return the value of the canary of this name."""
    return create_canary(name, length, alphabet, before=before, after=after).value


def create_canary(name: str, length: int = 32, alphabet: str = LETTERS, *, before: str = "", after: str = "") -> Canary:
    """Return the canary of this name: `length` random characters between public ones, the same all over the run."""
    dice = Random(f"{get_seed()}/{name}")
    secret = "".join(dice.choice(alphabet) for _ in range(length))
    canary = Canary(name, before + secret + after, secret)
    _record(canary)
    return canary


def register_value(name: str, value: str) -> None:
    """Have the run search for a secret that was made elsewhere."""
    _record(Canary(name, value, value))


def record_early() -> None:
    """Record the canaries that were created before the run had a folder: those of a conftest that pytest imports first."""
    while _early:
        _record(_early.pop())


def _record(canary: Canary) -> None:
    if not (folder := os.environ.get(RUN)):
        _early.append(canary)
        return
    file = Path(folder) / "canaries" / sha256(canary.value.encode()).hexdigest()[:24]
    if not file.exists():
        file.write_text(json.dumps(asdict(canary)))


def list_canaries(folder: Path) -> list[Canary]:
    """List the canaries of the run of that folder."""
    return [Canary(**json.loads(file.read_text())) for file in sorted((folder / "canaries").iterdir())]
