"""The verifier on its own: small, free of the project, and clear about what it could not read."""

from __future__ import annotations

import ast
import json
import math
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferryman import verify_receipts as verifier
from ferryman.domain.receipts import receipt
from ferryman.serving.api.shapes.receipt import AnyEntry, ReceiptEntry

from .chains import RUNNING, SHAPES, public

SOURCE = Path(verifier.__file__)
WHOLE = SHAPES["turns of many calls"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def run_verifier(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = verifier.main(list(arguments))
    return code, capsys.readouterr().out


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "receipts.json"
    path.write_text(json.dumps(WHOLE))
    return path


def test_it_is_under_two_hundred_lines_and_imports_nothing_but_cryptography() -> None:
    assert len(SOURCE.read_text().splitlines()) < 200
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(SOURCE.read_text()))
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in getattr(node, "names", [])]
        )
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported - sys.stdlib_module_names == {"cryptography"}


@pytest.mark.parametrize("shape", get_args(get_args(AnyEntry)[0]), ids=lambda shape: shape.__name__)
def test_the_api_answers_each_member_that_an_entry_may_have(shape: type[ReceiptEntry]) -> None:
    (kind,) = get_args(shape.model_fields["kind"].annotation)
    assert set(shape.model_fields) == set(verifier.KINDS[kind])


def test_a_chain_is_verified_with_the_keys_one_kept(file: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "keys").write_text("".join(f"{version}:{key}\n" for version, key in public().items()))
    assert run_verifier(capsys, str(file))[1].count("Give --public-key") == 1
    for key in (str(tmp_path / "keys"), f"1:{public()['1']}"):
        code, text = run_verifier(capsys, str(file), "--public-key", key)
        assert (code, "keys you gave" in text, "Give --public-key" in text) == (verifier.WHOLE, True, False)
    code, text = run_verifier(capsys, str(file), "--public-key", f"2:{public()['2']}")
    assert (code, "entry 0 (opened) is signed with version 1" in text) == (verifier.WRONG, True)


def test_a_running_execution_has_an_exit_code_of_its_own(file: Path, capsys: Any) -> None:
    file.write_text(json.dumps(RUNNING))
    assert run_verifier(capsys, str(file))[0] == verifier.OPEN


TEXT = json.dumps(WHOLE)
UNREADABLE = {
    "no JSON": "receipts",
    "a member twice": TEXT.replace('"number": 3', '"number": 3, "number": 3'),
    "a fraction": TEXT.replace('"number": 3', '"number": 3.0'),
    "not a number": TEXT.replace('"number": 3', '"number": NaN'),
    "too deep": "[" * 100_000,
    "nothing": "",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_said_to_be_so(file: Path, capsys: Any, text: str) -> None:
    file.write_text(text)
    code, text = run_verifier(capsys, str(file))
    assert (code, text.startswith("CANNOT BE READ")) == (verifier.UNREADABLE, True)


@pytest.mark.parametrize("key", ["", "1", "1:xyz", "0:" + "0" * 64, "1:" + "0" * 63, "1:" + "A" * 64])
def test_a_public_key_that_is_none_is_not_taken(file: Path, capsys: Any, key: str) -> None:
    assert run_verifier(capsys, str(file), "--public-key", key)[0] == verifier.UNREADABLE


@given(JSON)
def test_no_json_makes_it_stumble_or_passes_for_whole(value: Any) -> None:
    for document in (value, {**WHOLE, "entries": value}, {**WHOLE, "entries": [value]}, {**WHOLE, "keys": value}):
        try:
            assert verifier.verify(document)[0] == verifier.OPEN
            assert document["entries"] == []
        except verifier.VerificationError:
            continue


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(JSON)
def test_both_sides_work_out_the_same_digest_of_what_went_through_a_file(tmp_path: Path, value: Any) -> None:
    (tmp_path / "value").write_text(json.dumps(value))
    assert verifier.digest(verifier.read(str(tmp_path / "value"))) == receipt.digest_value(value)


def test_numbers_and_texts_have_one_canonical_form_each() -> None:
    assert receipt.canonicalize([1, 1.0, True, 0, -0.0, 1e15, 2.0**53, 1.5, 10**30]) == (
        b"[1,1.0,true,0,-0.0,1000000000000000.0,9007199254740992.0,1.5,1000000000000000000000000000000]"
    )
    assert receipt.canonicalize({"b": "é\u2028", "a": "\ud800"}) == b'{"a":"\\ud800","b":"\\u00e9\\u2028"}'
    for none in (math.inf, math.nan):
        with pytest.raises(ValueError, match="not JSON compliant"):
            receipt.canonicalize(none)


AMBIGUOUS = {
    "a number of which another double is the shortest form": "0.1000000000000000055",
    "a whole number that no double holds": "9007199254740993.0",
    "more than a double holds": "1e400",
    "less than a double holds": "1e-400",
    "more than a decimal holds": "1e99999999999999999999",
    "the integer that is minus nothing": "-0",
    "no number": "NaN",
    "no end": "-Infinity",
    "a long number": "1." + "0" * 100,
    "an integer of more digits than are read": "1" * 5_000,
    "a member twice": '{"a": 1, "a": 1}',
    "a member twice, one of them escaped": '{"a": 1, "\\u0061": 1}',
}


@pytest.mark.parametrize("text", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_two_readers_may_take_for_two_values_is_refused(file: Path, capsys: Any, text: str) -> None:
    record = file.with_name("record.json")
    record.write_text(text)
    code, text = run_verifier(capsys, str(file), "--record", str(record))
    assert (code, text.startswith("CANNOT BE READ")) == (verifier.UNREADABLE, True)


@pytest.mark.parametrize("data", [b'"\xed\xa0\xbd\xed\xb8\x80"', b'\xef\xbb\xbf""', '"é"'.encode("utf-16"), b'"\xc0\xaf"'])
def test_only_utf_8_is_read(file: Path, capsys: Any, data: bytes) -> None:
    record = file.with_name("record.json")
    record.write_bytes(data)
    assert run_verifier(capsys, str(file), "--record", str(record))[0] == verifier.UNREADABLE


def test_values_that_compare_equal_have_digests_of_their_own(tmp_path: Path) -> None:
    texts = ["1", "1.0", "true", '"1"', "0", "0.0", "-0.0", "false", "null", '""', "[]", "{}", '"\\ud83d"', '"\\ude00"']
    texts += ['"\\ud83d\\ude00"', '"\\u00e9"', '"e\\u0301"', '"E\\u0301"', "1.0000000000000002", "9007199254740993", "1e22"]
    digests = set()
    for text in texts:
        (tmp_path / "value").write_text(text)
        digests.add(verifier.digest(verifier.read(str(tmp_path / "value"))))
    assert len(digests) == len(texts)


def test_a_file_that_has_no_end_is_not_read_to_it(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(verifier, "BYTES_MAX", 2**16)
    code, text = run_verifier(capsys, "/dev/zero")
    assert (code, "longer than 65536 bytes" in text) == (verifier.UNREADABLE, True)


def test_an_empty_file_of_keys_is_not_taken_for_none(file: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "keys").write_text("\n")
    assert run_verifier(capsys, str(file), "--public-key", str(tmp_path / "keys"))[0] == verifier.UNREADABLE


def test_nothing_is_called_genuine_where_there_is_no_receipt(file: Path, capsys: Any) -> None:
    file.write_text(json.dumps({**WHOLE, "entries": []}))
    code, text = run_verifier(capsys, str(file))
    assert (code, text.startswith("NOTHING IS SIGNED")) == (verifier.OPEN, True)


def test_a_strangers_text_moves_no_cursor(file: Path, capsys: Any) -> None:
    file.write_text(json.dumps({**WHOLE, "entries": [], "execution": "\x1b[2J\r\n\u202e"}))
    text = run_verifier(capsys, str(file))[1]
    assert [character for character in text if not (character == "\n" or " " <= character <= "~")] == []


def test_a_whole_chain_is_verified_as_the_api_answers_it_and_a_page_of_one_is_not() -> None:
    assert verifier.verify({**WHOLE, "next": None})[0] == verifier.WHOLE
    with pytest.raises(verifier.VerificationError, match="no document of the format"):
        verifier.verify({**WHOLE, "next": "a-cursor"})
