"""Findings: the worst one decides."""

from __future__ import annotations

import pytest

from ferryman.domain.finding import DoctorFinding, Grade, find_worst_grade


@pytest.mark.parametrize(
    ("grades", "worst"),
    [
        *(("ok", "ok"), ("ok warning ok", "warning"), ("warning wrong ok", "wrong"), ("wrong warning", "wrong")),
        ("", "wrong"),
    ],
)
def test_the_worst_grade_is_that_of_all_and_nothing_examined_is_wrong(grades, worst):
    findings = [DoctorFinding(of="key", what="age", grade=Grade(grade), seen="") for grade in grades.split()]
    assert find_worst_grade(findings) == worst
