"""The verifier of deletions: a genuine receipt passes, and any change to any part of it is found."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from ferryman import verify_deletion
from ferryman.cli.receipts import verify
from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.vault import sign

PRIVATE = bytes(range(32))
KEYS = {"1": sign.derive_public_key(PRIVATE).hex()}


def build_document(**changes: Any) -> dict[str, Any]:
    fields = {"job": "job_1", "kind": "delete_workspace", "workspace": "ws_1", "subject": "ws_1", "person": "", "key": 1}
    at = {"requested_at": "2026-11-21T12:00:00.000000Z", "completed_at": "2026-11-21T12:00:09.000000Z"}
    receipt = DeletionReceipt(**{**fields, **at, "counts": {"tasks": 3, "workspaces": 1}, **changes})
    return {
        "format": "ferryman-deletion/1",
        "receipt": receipt.sign(sign.SigningKey(1, PRIVATE).sign).to_json(),
        "keys": dict(KEYS),
    }


def test_a_receipt_is_genuine() -> None:
    assert verify_deletion.find_fault(build_document()) is None


@pytest.mark.parametrize("name", sorted(build_document()["receipt"]))
def test_a_change_of_any_member_is_found(name: str) -> None:
    changed = build_document()
    value = changed["receipt"][name]
    other = {"counts": {"tasks": 4}, "key": 2, "person": "person_1", "kind": "delete_agent"}
    text = f"{value}"[:-2] + ("1Z" if name.endswith("_at") else "00")
    changed["receipt"][name] = other.get(name, text)
    assert changed["receipt"][name] != value
    assert verify_deletion.find_fault(changed) is not None


@pytest.mark.parametrize("name", sorted(build_document()["receipt"]))
def test_a_missing_member_is_found(name: str) -> None:
    changed = build_document()
    del changed["receipt"][name]
    assert verify_deletion.find_fault(changed) == "the receipt has other members than it must have"


def test_a_receipt_of_another_key_is_found() -> None:
    document = build_document()
    other = {"1": sign.derive_public_key(bytes(32)).hex()}
    assert verify_deletion.find_fault(document, other) == "the signature is not by version 1 of the key"
    assert verify_deletion.find_fault(document, {"2": KEYS["1"]}) == "there is no public key of version 1"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(JSON, st.sampled_from(["receipt", "keys", "format"]))
def test_no_document_makes_it_fail(value: Any, place: str) -> None:
    assert verify_deletion.find_fault(value) is not None
    assert verify_deletion.find_fault({**copy.deepcopy(build_document()), place: value}) is not None


def test_ferryman_verify_tells_a_deletion_from_a_chain(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(build_document()))
    result = CliRunner().invoke(verify, [str(file), "--public-key", f"1:{KEYS['1']}"])
    assert (result.exit_code, result.output) == (
        0,
        "Genuine: ws_1 was deleted by 2026-11-21T12:00:09.000000Z: 3 tasks, 1 workspace.\n",
    )


@pytest.mark.parametrize(
    ("content", "code"),
    [("{", verify_deletion.UNREADABLE), ("[]", verify_deletion.WRONG), ("[" * 100_000, verify_deletion.UNREADABLE)],
)
def test_what_is_no_receipt_is_told_by_its_exit_code(tmp_path: Path, content: str, code: int) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(content)
    assert verify_deletion.main([str(file)]) == code


def test_keys_of_the_file_itself_are_said_to_be_unproven(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(build_document()))
    assert verify_deletion.main([str(file)]) == 0
    assert verify_deletion.UNPINNED in capsys.readouterr().out
