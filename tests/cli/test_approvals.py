"""`ferryman approvals`, on an API on doubles."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ferryman.catalog.effects import describe_effect
from ferryman.cli import approvals, main
from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.form import CallForm, HttpForm, build_form, digest_form
from ferryman.domain.calls.continuation import ServerQuestion
from ferryman.domain.executions.execution import Status
from ferryman.domain.labels.label import OWNED
from ferryman.inmemory.clock import START, ManualClock
from tests.builders import build_execution
from tests.serving.conftest import Stage
from tests.serving.values import build_approval, build_question

Typed = Callable[..., Result]


@pytest.fixture
def pending(stage: Stage, clock: ManualClock, request: pytest.FixtureRequest) -> Approval:
    """A call of `ann`'s that waits, in an execution of its own."""
    clock.turn(60)
    name = f"appr_{abs(hash(request.node.name)) % 10**12}"
    approval = build_approval("ann", id=name, execution=f"exec_{name}", created_at=clock.now())
    fields = {"task": approval.task, "owner": "ann", "workspace": approval.workspace, "waiting_for": name}
    stage.memory.executions[approval.execution] = build_execution(id=approval.execution, status=Status.RUNNING, **fields)
    stage.memory.approvals[name] = approval
    return approval


def find(stage: Stage, approval: Approval) -> Approval:
    """Return the approval as it is stored now."""
    return stage.memory.approvals[approval.id]


def answer(monkeypatch: pytest.MonkeyPatch, service: dict[str, str], *words: str, typed: str) -> Result:
    """Return what a command prints that is typed in a terminal, where the person answers as `typed`."""
    monkeypatch.setattr(approvals, "is_terminal", lambda: True)
    return CliRunner().invoke(main, words, input=typed, env={**service, "COLUMNS": "100"})


def test_what_waits_is_listed(typed: Typed, pending: Approval) -> None:
    assert pending.id in typed("approvals", "list").output
    listed = json.loads(typed("approvals", "list", "--json").output)
    assert {item["state"] for item in listed} == {"pending"}


def test_what_was_decided_is_listed_with_who_did(typed: Typed) -> None:
    assert "deny by owner" in typed("approvals", "list", "--all").output


def test_an_approval_is_shown_with_all_that_would_be_sent(typed: Typed, pending: Approval) -> None:
    printed = typed("approvals", "show", pending.id)
    assert printed.exit_code == 0
    for text in ("https://api.github.com/gists", "Bearer", pending.digest, "waits for a person"):
        assert text in printed.output


def test_a_person_sees_the_digest_and_approves_that(
    pending: Approval, stage: Stage, service: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = answer(monkeypatch, service, "approvals", "approve", pending.id, "--sends", "2", typed="y\n")
    assert decided.exit_code == 0, decided.output
    assert decided.output.count(pending.digest) == 2
    stored = find(stage, pending)
    assert (stored.state, stored.sends_max) == (ApprovalState.APPROVED, 2)
    assert stored.decided is not None
    assert stored.decided.decision.digest == pending.digest


def test_a_person_declassifies_a_value_with_what_they_approve(
    pending: Approval, stage: Stage, service: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    value = "https://api.github.com/gists"
    decided = answer(monkeypatch, service, "approvals", "approve", pending.id, "--declassify", value, typed="y\n")
    assert f"and declassify {value}?" in decided.output
    assert f"declassified {value}" in decided.output.splitlines()[-1]
    stored = find(stage, pending)
    assert stored.decided is not None
    assert stored.decided.decision.declassified == value


def test_a_person_who_says_no_has_decided_nothing(
    pending: Approval, stage: Stage, service: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(monkeypatch, service, "approvals", "approve", pending.id, typed="n\n").exit_code == 0
    assert find(stage, pending).state is ApprovalState.PENDING


def test_without_a_terminal_the_digest_has_to_be_named(typed: Typed, pending: Approval, stage: Stage) -> None:
    refused = typed("approvals", "approve", pending.id, "--yes")
    assert (refused.exit_code, find(stage, pending).state) == (2, ApprovalState.PENDING)
    assert "--digest" in refused.output


def test_another_digest_decides_nothing(typed: Typed, pending: Approval, stage: Stage) -> None:
    refused = typed("approvals", "approve", pending.id, "--digest", "0" * 64)
    assert (refused.exit_code, find(stage, pending).state) == (5, ApprovalState.PENDING)


def test_a_script_approves_the_digest_that_it_names(typed: Typed, pending: Approval, stage: Stage) -> None:
    assert typed("approvals", "approve", pending.id, "--digest", pending.digest).exit_code == 0
    assert find(stage, pending).state is ApprovalState.APPROVED


def test_a_denial_has_its_reason(typed: Typed, pending: Approval, stage: Stage) -> None:
    denied = typed("approvals", "deny", pending.id, "--reason", "too much", "--digest", pending.digest, "--json")
    assert json.loads(denied.output)["decision"]["reason"] == "too much"
    assert find(stage, pending).state is ApprovalState.DENIED


def test_an_edit_has_the_arguments_of_a_file(typed: Typed, pending: Approval, stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_text('{"url": "https://api.github.com/gists", "body": {"amount": 1}}')
    assert typed("approvals", "edit", pending.id, "--arguments", str(file), "--digest", pending.digest).exit_code == 0
    decided = find(stage, pending).decided
    assert decided is not None
    assert json.loads(decided.decision.edited)["body"] == {"amount": 1}


def test_deciding_otherwise_later_is_refused(typed: Typed, pending: Approval) -> None:
    assert typed("approvals", "deny", pending.id, "--digest", pending.digest).exit_code == 0
    assert typed("approvals", "approve", pending.id, "--digest", pending.digest).exit_code == 5


def test_a_form_that_its_digest_is_not_of_is_not_shown(typed: Typed, pending: Approval, stage: Stage) -> None:
    stage.memory.approvals[pending.id] = replace(pending, form=pending.form.replace("gists", "gistz"))
    printed = typed("approvals", "show", pending.id)
    assert printed.exit_code == 1
    assert "gistz" not in printed.output


def test_where_each_argument_came_from_is_shown_with_the_call(typed: Typed, pending: Approval) -> None:
    lines = typed("approvals", "show", pending.id).output.splitlines()
    place = next(index for index, line in enumerate(lines) if "argument" in line and "url = " in line)
    assert lines[place + 1].split()[:2] == ["UNTRUSTED", "│"]
    assert "⟨U+001B⟩[2J" in "".join(lines[place + 1 : place + 4])


def test_the_difference_to_the_last_one_is_shown(typed: Typed, pending: Approval, stage: Stage) -> None:
    what = HttpForm(method="POST", url="https://api.github.com/gists/7", headers=())
    call = CallForm(tool="http_post", tool_digest="0" * 64, what=what, label=OWNED, policy_digest="1" * 64, place={})
    form = build_form(call, expires_at=START)
    earlier = replace(pending, id=f"{pending.id}_b", form=form, digest=digest_form(form), state=ApprovalState.APPROVED)
    stage.memory.approvals.update({earlier.id: earlier, pending.id: replace(pending, before=earlier.id)})
    printed = typed("approvals", "show", pending.id).output
    assert any(line.startswith("- ") and "gists/7" in line for line in printed.splitlines())


def test_watching_ends_when_something_waits(typed: Typed, pending: Approval) -> None:
    watched = typed("approvals", "watch", "--once", "--execution", pending.execution)
    assert (watched.exit_code, pending.id in watched.output) == (0, True)


def test_a_standing_approval_is_added_listed_and_revoked(typed: Typed) -> None:
    added = typed("approvals", "standing", "add", "http_post", "--uses", "3", "--days", "7", "--host", "api.github.com")
    name = added.output.strip()
    assert (added.exit_code, name in typed("approvals", "standing", "list").output) == (0, True)
    assert typed("approvals", "standing", "revoke", name).exit_code == 0
    listed: list[dict[str, Any]] = json.loads(typed("approvals", "standing", "list", "--json").output)
    assert next(item for item in listed if item["standing_approval_id"] == name)["revoked"]


@pytest.mark.parametrize(("tool", "words"), [("http_post", "changes services"), ("calculator", "changes nothing")])
def test_what_a_call_changes_is_said_by_its_policy(tool: str, words: str) -> None:
    assert words in describe_effect(tool)


def test_an_approval_that_waits_says_which_command_decides(typed: Typed, pending: Approval) -> None:
    assert f"Decide: ferryman approvals approve {pending.id}, or" in typed("approvals", "show", pending.id).output


def test_an_execution_that_waits_says_what_to_type(typed: Typed, pending: Approval) -> None:
    assert f"ferryman approvals show {pending.id}" in typed("show", pending.execution).output
    assert pending.execution in typed("show", "--waiting").output


def test_a_question_of_a_server_is_answered_field_by_field(
    monkeypatch: pytest.MonkeyPatch, service: dict[str, str], pending: Approval, stage: Stage
) -> None:
    fields = {"hour": {"type": "string", "enum": ["18:00", "20:00"]}, "people": {"type": "integer"}}
    question = ServerQuestion(key="k", mode="form", message="When?", schema={"type": "object", "properties": fields})
    stage.memory.approvals[pending.id] = build_question("ann", question, id=pending.id, execution=pending.execution)
    result = answer(monkeypatch, service, "approvals", "answer", pending.id, typed="20:00\n4\ny\n")
    decided = find(stage, pending).decided
    assert decided is not None, result.output
    assert json.loads(decided.decision.edited) == {"k": {"hour": "20:00", "people": 4}}


def test_a_question_that_waits_says_which_command_answers(typed: Typed, pending: Approval, stage: Stage) -> None:
    question = ServerQuestion(key="k", mode="url", message="Open it", url="https://a.example.com/")
    stage.memory.approvals[pending.id] = build_question("ann", question, id=pending.id, execution=pending.execution)
    assert f"Decide: ferryman approvals answer {pending.id}, or" in typed("approvals", "show", pending.id).output


def test_a_question_is_answered_by_a_script_with_a_file(typed: Typed, pending: Approval, stage: Stage, tmp_path: Path) -> None:
    question = ServerQuestion(key="k", mode="url", message="Open it", url="https://a.example.com/")
    approval = build_question("ann", question, id=pending.id, execution=pending.execution)
    stage.memory.approvals[pending.id] = approval
    (tmp_path / "answers.json").write_text('{"k": {}}')
    words = ("--arguments", str(tmp_path / "answers.json"), "--digest", approval.digest, "--yes")
    typed("approvals", "answer", pending.id, *words)
    assert find(stage, pending).state is ApprovalState.ANSWERED
