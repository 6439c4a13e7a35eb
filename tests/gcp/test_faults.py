"""Faults of Google's services: which pass, and are told as unavailable."""

from __future__ import annotations

import pytest
from google.api_core import exceptions

from ferryman.gcp.faults import translated
from ferryman.ports import Unavailable


@translated
class Store:
    """Raises what it is told to."""

    async def ask(self, error: Exception) -> None:
        raise error


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ServiceUnavailable("down"),
        exceptions.Aborted("contended"),
        exceptions.DeadlineExceeded("late"),
        exceptions.RetryError("gave up", cause=None),
        ValueError("Failed to commit transaction in 5 attempts."),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_passing_fault_is_unavailable(error):
    with pytest.raises(Unavailable):
        await Store().ask(error)


@pytest.mark.parametrize(
    "error", [exceptions.NotFound("gone"), exceptions.PermissionDenied("no"), ValueError("other"), KeyError("x")]
)
async def test_what_no_later_try_can_cure_stays_as_it_is(error):
    with pytest.raises(type(error)):
        await Store().ask(error)
