"""The live view of an execution: what each event looks like to who watches it."""

from __future__ import annotations

import pytest

from ferryman.cli import live
from ferryman.cli.screen import Screen
from ferryman.client import StreamedEvent


def test_credits_are_shown_as_they_are_spent(capsys: pytest.CaptureFixture[str]) -> None:
    body = {"credits_used": "1.25001", "credits_reserved": "100", "attempts": 0, "cause": None}
    live.print_event(Screen(), StreamedEvent(number=None, kind="progress", body=body))
    assert capsys.readouterr().out == "credits    1.25 of 100 used\n"


def test_a_model_that_does_not_answer_is_shown_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    body = {"credits_used": "0", "credits_reserved": "100", "attempts": 3, "cause": "it refused the connection"}
    live.print_event(Screen(), StreamedEvent(number=None, kind="progress", body=body))
    assert capsys.readouterr().out == "waiting    3 attempts: it refused the connection; 0 credits used\n"
