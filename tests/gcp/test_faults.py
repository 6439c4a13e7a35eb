"""Faults of Google's services: which pass, and are told as unavailable."""

from __future__ import annotations

import pytest
from google.api_core import exceptions

from ferryman.domain.stale import StaleError
from ferryman.gcp.faults import translate_errors
from ferryman.ports.errors import UnavailableError


@translate_errors
class Store:
    """Raises what it is told to."""

    async def ask(self, error: Exception) -> None:
        raise error

    async def ask_in_a_transaction(self, error: Exception, rollback: Exception) -> None:
        try:
            raise error
        except Exception:  # noqa: BLE001 - as the client does, whose rollback follows whatever ended the transaction
            raise rollback  # noqa: B904 - likewise


CLOSED = exceptions.InvalidArgument("The referenced transaction has expired or is no longer valid.")
NOT_BEGUN = ValueError("The transaction has no transaction ID, so it cannot be rolled back.")


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ServiceUnavailable("down"),
        exceptions.Aborted("contended"),
        exceptions.DeadlineExceeded("late"),
        exceptions.RetryError("gave up", cause=None),
        ValueError("Failed to commit transaction in 5 attempts."),
        CLOSED,
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_passing_fault_is_unavailable(error):
    with pytest.raises(UnavailableError):
        await Store().ask(error)


@pytest.mark.parametrize(
    "error",
    [
        exceptions.NotFound("gone"),
        exceptions.PermissionDenied("no"),
        exceptions.InvalidArgument("a document is too large"),
        ValueError("other"),
        KeyError("x"),
    ],
)
async def test_what_no_later_try_can_cure_stays_as_it_is(error):
    with pytest.raises(type(error)):
        await Store().ask(error)


@pytest.mark.parametrize("rollback", [CLOSED, NOT_BEGUN, exceptions.PermissionDenied("no")], ids=str)
async def test_a_failed_rollback_does_not_hide_that_the_service_was_away(rollback):
    with pytest.raises(UnavailableError):
        await Store().ask_in_a_transaction(exceptions.DeadlineExceeded("late"), rollback)


@pytest.mark.parametrize("rollback", [CLOSED, exceptions.ServiceUnavailable("down")], ids=str)
async def test_a_failed_rollback_does_not_hide_what_the_transaction_found(rollback):
    with pytest.raises(StaleError):
        await Store().ask_in_a_transaction(StaleError("the lease has moved on"), rollback)


async def test_what_was_being_handled_before_is_not_taken_for_what_happened_now():
    try:
        raise StaleError("the lease has moved on")
    except StaleError:
        with pytest.raises(UnavailableError):
            await Store().ask(exceptions.ServiceUnavailable("down"))
