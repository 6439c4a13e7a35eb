"""Jobs for workers: good ones, and such as do not end."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from ferryman.domain.calls import refusal
from ferryman.domain.calls.part import PartKind
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.problem import build_input_error


def reversed_(text: str) -> str:
    return text[::-1]


def length_of(secret: Secret) -> int:
    return len(secret.reveal())


def total_length(secrets: list[Secret]) -> int:
    return sum(len(secret.reveal()) for secret in secrets)


_objects: list[object] = []


def identity(value: object) -> int:
    """Return which of the objects that this worker was given it is."""
    _objects.append(value)  # so that no two have one address
    return id(value)


def backtrack() -> None:
    """Run one call of C code that holds the GIL for years."""
    re.match(r"(a+)+b", "a" * 64)


def loop() -> None:
    while True:
        pass


def sleep() -> None:
    time.sleep(3_600)


def rank_after_waiting() -> int:
    """Return the process's own niceness, after so long that it would count as slow if that went by the clock."""
    time.sleep(0.2)
    return os.getpriority(os.PRIO_PROCESS, 0)


def rank_after_working() -> int:
    """Return the same, after as much of a processor's time."""
    ends = time.process_time() + 0.2
    while time.process_time() < ends:
        pass
    return os.getpriority(os.PRIO_PROCESS, 0)


def hog() -> int:
    return len(bytearray(1 << 40))


def process() -> int:
    return os.getpid()


def refuse() -> None:
    raise CallRefusedError(refusal.refuse_leak("KEY"))


def reject() -> None:
    raise build_input_error("spec", "is none")


def fail(text: str) -> None:
    raise KeyError(text)


def die() -> None:
    os._exit(1)


def write(path: Path) -> None:
    path.write_text("a secret")


class Callback:
    """An answer that would run code where it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


def answer_code() -> Callback:
    return Callback()


def worst(*_: object) -> None:
    """Run forever without releasing the GIL, like the check of the worst possible text."""
    backtrack()


def answer_kind() -> PartKind:
    return PartKind.JSON
