"""Which values a person may declassify: whole ones that the form shows as untrusted, neither short nor cut."""

from __future__ import annotations

import json

import pytest

from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.approvals.origins import ShownOrigin as Origin
from ferryman.domain.approvals.origins import has_untrusted, write_origins
from ferryman.domain.approvals.request import find_decision_problems
from ferryman.domain.flow.verdict import VALUE_SHOWN_MAX

LONG = "x" * VALUE_SHOWN_MAX
ORIGINS = (
    Origin("to = eve@evil.test", is_trusted=False, source="in no trusted text"),
    Origin("cc = ann@mail.test", is_trusted=True, source='the prompt: "Mail ann@mail.test"'),
    Origin("count = 7", is_trusted=False, source="in no trusted text"),
    Origin(f"title = {LONG}…", is_trusted=False, source="in no trusted text"),
)
FORM = json.dumps({"flow": {"lines": ["send_mail: waits for a person (tainted)", *write_origins(ORIGINS)]}})


def list_problems(value: str) -> list[str]:
    """Return the fields that keep `value` from being declassified with an approval."""
    about = {"sends": 1, "reason": "", "arguments": None, "form": FORM}
    return [problem.field for problem in find_decision_problems(DecisionVerdict.APPROVE, declassified=value, **about)]


def test_a_value_that_is_shown_as_untrusted_may_be_declassified() -> None:
    assert list_problems("eve@evil.test") == []


@pytest.mark.parametrize("value", ["ann@mail.test", "evil.test", "to = eve@evil.test", "in no trusted text"])
def test_nothing_else_that_is_shown_may_be(value: str) -> None:
    assert list_problems(value) == ["declassify"]


@pytest.mark.parametrize("value", ["7", LONG, f"{LONG}…"])
def test_a_value_that_is_short_or_cut_may_not_be(value: str) -> None:
    assert list_problems(value) == ["declassify"]


@pytest.mark.parametrize("flow", [None, {}, {"lines": []}, {"lines": ["a", "b"]}, {"lines": [1]}])
def test_a_form_without_origins_has_no_value_to_declassify(flow: object) -> None:
    assert not has_untrusted(json.dumps({"flow": flow}), "eve@evil.test")
