"""Findings: what the examination of a deployment found, one line each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """The severity of a finding, from the best to the worst: fine, to be examined by a person, or broken or open."""

    WELL = "ok"
    LOOK = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One check: `of` which part, `what` about it, and the result in a sentence."""

    of: str
    what: str
    grade: Grade
    seen: str


def find_worst_grade(findings: Iterable[DoctorFinding]) -> Grade:
    """Return the worst grade; without any finding it is wrong, since nothing was examined."""
    grades = {finding.grade for finding in findings} or {Grade.WRONG}
    return next(grade for grade in reversed(Grade) if grade in grades)
