"""Findings: what a look at a house found, one line each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How a finding is meant: all is well, somebody should look, or something does not work or is open."""

    WELL = "ok"
    LOOK = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One thing that was looked at: `of` which part, `what` about it, and in a sentence what was seen."""

    of: str
    what: str
    grade: Grade
    seen: str


def find_worst_grade(findings: Iterable[DoctorFinding]) -> Grade:
    """The worst of them; no finding at all is wrong, for then nothing was looked at."""
    grades = [each.grade for each in findings]
    return max(grades, key=list(Grade).index, default=Grade.WRONG)
