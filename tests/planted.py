"""Planted: the credentials of all tests, new in each run, each noted down for the search at the run's end.

A run has a folder, which its first process makes and its workers find by a variable; what is planted there is the same in all
of them. To repeat a run, set PLANTED_SEED to the seed that the search tells.
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

RUN, SEED = "PLANTED_RUN", "PLANTED_SEED"
LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class Planted:
    """A credential's value, and the random part of it: the rest may stand anywhere."""

    name: str
    value: str
    secret: str


@cache
def seed() -> str:
    """The run's seed; beside a run, one of this process."""
    return os.environ.setdefault(SEED, secrets.token_hex(16))


def key(name: str, length: int = 32, alphabet: str = LETTERS, *, before: str = "", after: str = "") -> str:
    """The value of the credential of this name."""
    return plant(name, length, alphabet, before=before, after=after).value


def plant(name: str, length: int = 32, alphabet: str = LETTERS, *, before: str = "", after: str = "") -> Planted:
    """The credential of this name: `length` random characters between what is public. The same all over the run."""
    dice = Random(f"{seed()}/{name}")
    secret = "".join(dice.choice(alphabet) for _ in range(length))
    planted = Planted(name, before + secret + after, secret)
    if folder := os.environ.get(RUN):
        file = Path(folder) / "planted" / sha256(planted.value.encode()).hexdigest()[:24]
        if not file.exists():
            file.write_text(json.dumps(asdict(planted)))
    return planted


def note(name: str, value: str) -> None:
    """Have the run look for a secret that somebody else has made."""
    if folder := os.environ.get(RUN):
        file = Path(folder) / "planted" / sha256(value.encode()).hexdigest()[:24]
        file.write_text(json.dumps(asdict(Planted(name, value, value))))


def noted(folder: Path) -> list[Planted]:
    """What was planted in the run of that folder."""
    return [Planted(**json.loads(file.read_text())) for file in sorted((folder / "planted").iterdir())]
