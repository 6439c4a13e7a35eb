"""A soak's figures and its exit code say what it found."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaigns.isolation.live import LiveResults
from tests.campaigns.tenants.soaked import BROKEN, CROSSED, SLOW, Soaked


def soak(judged: int = 60, succeeded: tuple[str, ...] = (), disclosures: tuple[str, ...] = (), **others: Any) -> Soaked:
    """Return what a soak of 18 executions found."""
    attempts = LiveResults(judged=judged, succeeded=[*succeeded], disclosures=[*disclosures], put_off=2)
    return Soaked(**{"executions": 18, "owners": 3, "attempts": attempts, **others})


@pytest.mark.parametrize(
    ("soaked", "code"),
    [
        (soak(), 0),
        (soak(succeeded=("a",)), CROSSED),
        (soak(disclosures=("a",)), CROSSED),
        (soak(crossed=["a"]), CROSSED),
        (soak(crossed=["a"], broken=["b"], slow=["c"]), CROSSED),
        (soak(broken=["b"], slow=["c"]), BROKEN),
        (soak(judged=0), BROKEN),
        (soak(executions=0), BROKEN),
        (soak(slow=["c"]), SLOW),
    ],
)
def test_the_exit_code_says_what_was_found(soaked: Soaked, code: int) -> None:
    assert soaked.code == code


def test_the_figures_are_said() -> None:
    assert soak(disclosures=("a",), crossed=["b"]).describe() == (
        "18 executions of 3 owners, 60 attempts at what is another's: 0 succeeded, 1 told, 2 put off; what crossed: 1"
    )


def test_every_error_of_a_group_is_noted_by_itself() -> None:
    soaked = soak()
    soaked.note_break("a round", ExceptionGroup("", [TimeoutError("late"), ExceptionGroup("", [AssertionError("failed")])]))
    assert soaked.broken == ["a round broke off: TimeoutError: late", "a round broke off: AssertionError: failed"]
    assert soaked.has_ended
