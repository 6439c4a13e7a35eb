"""A cache of scanners, from one call to the next: building one takes longer than most scans.

A scanner holds the values of its credentials in many forms. So what stays in memory is bounded: in number, in time, and to one
set of values for each task; a value that was replaced is forgotten at the next call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from operator import is_

from ferryman.domain.credentials.credential import Credential
from ferryman.egress.leaks import SecretScanner

CREDENTIALS_MAX = 352
"""Of all scanners together, each counted as one more: 0.1 MB of memory each. The longest unused ones are dropped first."""

UNUSED_S = 60.0
"""Seconds after its last use until a scanner is dropped: the calls of an execution are seldom farther apart."""

AGE_S = 600.0  # and since it was built, however often it is used


@dataclass(slots=True)
class _Entry:
    credentials: tuple[Credential, ...]
    scanner: SecretScanner
    built_s: float
    used_s: float

    @property
    def end_s(self) -> float:
        return min(self.used_s + UNUSED_S, self.built_s + AGE_S)

    def is_for(self, credentials: tuple[Credential, ...]) -> bool:
        """Tell whether it was built of these very values."""
        if len(credentials) != len(self.credentials):
            return False
        return all(map(is_, credentials, self.credentials)) or [*map(_reveal, credentials)] == [*map(_reveal, self.credentials)]


class ScannerCache:
    """The scanners of a process, one for each task, and one for texts without any credential."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._due_s = inf
        """None is to be dropped before that: what is used is only kept for longer."""

    def __len__(self) -> int:
        """Count them."""
        return len(self._entries)

    def get(self, credentials: Collection[Credential]) -> SecretScanner:
        """Return the scanner for all `credentials` of a task: the cached one, or a new one."""
        scanner = self.find(credentials)
        return self.keep(credentials, SecretScanner(credentials)) if scanner is None else scanner

    def find(self, credentials: Collection[Credential]) -> SecretScanner | None:
        """Return the cached scanner for `credentials`; None where there is none, or it was built of other values."""
        if self._clock() >= self._due_s:
            self.drop_old()
        task, values = get_task(credentials), tuple(credentials)
        entry = self._entries.pop(task, None)
        if entry is None or not entry.is_for(values):
            return None
        entry.used_s = self._clock()
        self._entries[task] = entry
        return entry.scanner

    def keep(self, credentials: Collection[Credential], scanner: SecretScanner) -> SecretScanner:
        """Keep `scanner`, just built, and return it."""
        now = self._clock()
        self._entries[get_task(credentials)] = entry = _Entry(tuple(credentials), scanner, now, now)
        self._due_s = min(self._due_s, entry.end_s)
        while len(self._entries) > 1 and sum(len(entry.credentials) + 1 for entry in self._entries.values()) > CREDENTIALS_MAX:
            del self._entries[next(iter(self._entries))]
        return scanner

    def drop_old(self) -> float | None:
        """Drop those that were kept for too long; return the seconds until the next one is to be dropped, if any is left."""
        now = self._clock()
        self._entries = {task: entry for task, entry in self._entries.items() if entry.end_s > now}
        self._due_s = min((entry.end_s for entry in self._entries.values()), default=inf)
        return self._due_s - now if self._entries else None

    def clear(self) -> None:
        """Drop all."""
        self._entries.clear()


def get_task(credentials: Collection[Credential]) -> tuple[str, str]:
    """Return the owner and the task of `credentials`, which are all of one."""
    return next(((credential.label.owner, credential.label.task) for credential in credentials), ("", ""))


def _reveal(credential: Credential) -> tuple[str, tuple[str, ...]]:
    return credential.name, tuple(secret.reveal() for secret in credential.secrets)
