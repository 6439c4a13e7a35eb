"""The rule about labels sees what it is to see: each of these answers breaks it in one way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.campaigns.hostile.labels import find_claims
from tests.campaigns.hostile.scenario import Scenario, finish
from tests.campaigns.hostile.scenario_run import prepare_run

SOURCE = {"tool": "http_get", "call": 0, "url": "https://a.test/b", "credential": None}
LABEL = {"integrity": "untrusted", "confidentiality": "owner", "sources": [SOURCE], "more": False}
PART = {"kind": "json", "file": None, "label": LABEL}


FILE = {"kind": "file", "file": "executions/2026-11-23/exec_1/0.txt", "label": LABEL}


def claims(*parts: dict[str, Any], tools: tuple[str, ...] = ("http_get",)) -> list[str]:
    """Return what is found in a page with one answer of these parts."""
    run = prepare_run(Scenario(name="claim: one", turns=(finish(),), tools=tools))
    run.execution = "exec_1"
    result = {"response_status": 200, "parts": parts}
    run.responses.append(json.dumps({"next": None, "calls": [{"seq": 0, "tool": "http_get", "result": result}]}).encode())
    return list(find_claims(run))


def test_an_answer_as_it_was_labelled_is_none() -> None:
    assert claims(PART) == []


@pytest.mark.parametrize(
    "part",
    [
        {**PART, "label": {**LABEL, "integrity": "trusted"}},
        {**PART, "label": {**LABEL, "confidentiality": "public"}},
        {**PART, "label": {**LABEL, "sources": [{**SOURCE, "call": 1}]}},
        {**PART, "label": {**LABEL, "sources": [{**SOURCE, "tool": "calculator"}]}},
        {**PART, "label": {**LABEL, "sources": [{**SOURCE, "url": "https://a.test/b?key=1"}]}},
        {**PART, "kind": "file"},
        {**PART, "file": "uploads/a"},
    ],
)
def test_an_answer_that_claims_anything_else_is_found(part: dict[str, Any]) -> None:
    assert len(claims(part)) == 1


def test_an_answer_of_two_parts_is_found() -> None:
    assert len(claims(PART, PART)) == 1


def test_the_file_of_a_long_answer_is_none() -> None:
    assert claims(PART, FILE, tools=("http_get", "file_read")) == []


@pytest.mark.parametrize(
    "file", ["executions/2026-11-23/exec_2/0.txt", "executions/2026-11-23/exec_1/1.txt", "uploads/a", None]
)
def test_another_file_of_a_long_answer_is_found(file: str | None) -> None:
    assert len(claims(PART, {**FILE, "file": file}, tools=("http_get", "file_read"))) == 1


def test_the_file_of_an_answer_that_no_task_reads_on_is_found() -> None:
    assert len(claims(PART, FILE)) == 1
