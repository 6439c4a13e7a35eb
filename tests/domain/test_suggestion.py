"""Suggestions: every code of ours says what to do next."""

from __future__ import annotations

import inspect

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.calls.suggestion import find_suggestion
from ferryman.domain.http.status import get_code

ARGUMENTS = {"calls": 20, "seconds": 5, "approved": (), "allowed": (), "status": 200}


def list_refusals() -> list[Refusal]:
    """Return every refusal of the module, those that are made of arguments included."""
    values = list(vars(refusal).values())
    makers = [
        value for value in values if inspect.isfunction(value) and inspect.signature(value).return_annotation == "Refusal"
    ]
    refusals = [maker(**{name: ARGUMENTS.get(name, "x") for name in inspect.signature(maker).parameters}) for maker in makers]
    return [*refusals, *(value for value in values if isinstance(value, Refusal))]


def test_every_refusal_says_what_to_do_next() -> None:
    refusals = list_refusals()
    assert len(refusals) > 30
    assert [reason.reason for reason in refusals if find_suggestion(reason.reason) is None] == []


@pytest.mark.parametrize(
    ("status", "code", "suggestion"),
    [
        (404, "not_found", "Check the URL and the names in it, or look for the thing in another way."),
        (429, "too_many_requests", "Wait as long as the answer says, and call the tool again."),
        (503, "service_unavailable", "Call the tool again later, or go on without it."),
        (599, "http_599", "Call the tool again later, or go on without it."),
        (302, "unexpected_status", "Read what the answer says, and go on by that."),
        (418, "im_a_teapot", None),
        (999, "http_999", "Call the tool again later, or go on without it."),
    ],
)
def test_a_status_has_its_standard_name_as_code(status: int, code: str, suggestion: str | None) -> None:
    assert (get_code(status), find_suggestion(get_code(status), status)) == (code, suggestion)
