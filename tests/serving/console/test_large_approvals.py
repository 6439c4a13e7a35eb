"""Approvals too large to be shown whole: their page opens all the same, and nobody approves there what they have not seen."""

from __future__ import annotations

import pytest

from ferryman.domain.approvals.form import HttpForm
from ferryman.inmemory.clock import START
from ferryman.serving.console import approval_view
from ferryman.serving.console.approval_view import LINES_MAX
from tests.builders import build_execution
from tests.serving.conftest import Stage
from tests.serving.values import build_approval

from .conftest import Browser
from .test_approval_markup import show

PATH = "/console/approvals/appr_large"


def build_request(lines: int) -> HttpForm:
    return HttpForm(method="POST", url="https://api.example/", headers=(), body="a\n" * lines)


def find_decisions(markup: str) -> set[str]:
    return {verdict for verdict in ("approve", "deny") if f'name="do" value="{verdict}"' in markup}


def test_one_that_is_shown_whole_can_be_approved() -> None:
    assert find_decisions(show(build_request(LINES_MAX - 50))) == {"approve", "deny"}


def test_one_that_is_not_can_be_denied_alone() -> None:
    page = show(build_request(LINES_MAX))
    assert find_decisions(page) == {"deny"}
    assert "too large to be shown whole" in page
    assert page.count("<tr>") < LINES_MAX + 20


def test_one_that_is_not_is_not_compared_either() -> None:
    page = show(build_request(1), before=build_request(LINES_MAX))
    assert find_decisions(page) == {"approve", "deny"}
    assert "too large to be compared" in page


def test_enter_in_a_field_presses_no_button_that_decides() -> None:
    form = show(build_request(1)).partition('class="decision')[2]
    assert form.partition("<button ")[2].startswith("disabled hidden>")


def fail(*_: object) -> dict[str, object]:
    raise ValueError


async def test_one_that_cannot_be_rendered_opens_all_the_same(
    browser: Browser, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approval_view, "render_view", fail)
    monkeypatch.setattr(approval_view, "CHARACTERS_MAX", 0)
    stage.memory.approvals["appr_large"] = approval = build_approval("ann", id="appr_large", execution="exec_large")
    stage.memory.executions["exec_large"] = build_execution(
        id="exec_large", owner="ann", workspace=approval.workspace, slice=3, waiting_for="appr_large", waiting_since=START
    )
    page = await browser.open(PATH)
    assert page.status_code == 200
    assert find_decisions(page.text) == {"deny"}
