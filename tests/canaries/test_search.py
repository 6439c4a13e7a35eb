"""The search finds what is put before it, however it is written, and a run in which something leaks fails."""

from __future__ import annotations

import base64
import html
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.canaries.canary import LETTERS, RUN, SEED, Canary
from tests.canaries.plugin import WITHOUT_CANARIES
from tests.canaries.search import Place, build_patterns, search

ROOT = Path(__file__).parents[2]
SECRET = "Zq7mW2xL9vT4bN8rK3yC6hD5"
VALUE = f"sk-live-{SECRET}"
CANARY = Canary("NEWS_KEY", VALUE, SECRET)
LISTED = build_patterns([CANARY])

SPELLINGS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "upper case": lambda v: v.upper().encode(),
    "reversed": lambda v: v[::-1].encode(),
    "base64": lambda v: base64.b64encode(v.encode()),
    "base64, second alignment": lambda v: base64.b64encode(b"a" + v.encode() + b"b"),
    "base64, third alignment": lambda v: base64.b64encode(b"ab" + v.encode() + b"c"),
    "base64 for URLs": lambda v: base64.urlsafe_b64encode(b"\xff\xfe" + v.encode()),
    "base64 of UTF-16": lambda v: base64.b64encode(v.encode("utf-16-le")),
    "base64, wrapped": lambda v: b"\n".join(base64.b64encode(v.encode())[n : n + 9] for n in range(0, 60, 9)),
    "base32": lambda v: base64.b32encode(v.encode()),
    "hexadecimal": lambda v: v.encode().hex().encode(),
    "hexadecimal, spaced capitals": lambda v: v.encode().hex(" ").upper().encode(),
    "percent": lambda v: "".join(f"%{item:02X}" for item in v.encode()).encode(),
    "percent, where it must be": lambda v: quote(v + "/+", safe="").encode(),
    "JSON in JSON": lambda v: json.dumps(json.dumps({"k": v})).encode(),
    "JSON escapes": lambda v: "".join(f"\\u{ord(entry):04x}" for entry in v).encode(),
    "HTML": lambda v: html.escape(f'"{v}"').encode(),
    "UTF-16": lambda v: v.encode("utf-16"),
    "dashes between": lambda v: "-".join(v).encode(),
    "in lines": lambda v: b"\r\n ".join(v[n : n + 5].encode() for n in range(0, len(v), 5)),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_spelling_is_found_with_its_place(spelling: str) -> None:
    before = b'{"severity": "INFO", "url": "https://a.test/?q='
    whole = SPELLINGS[spelling](SECRET if spelling == "base32" else VALUE)
    (finding,) = search([Place("a.log", before + whole + b'"}')], LISTED)
    assert (finding.canary, finding.place) == ("NEWS_KEY", "a.log")
    # where the first character of a spelling belongs to what stands before it, the find begins a little later
    assert len(before) <= finding.offset <= len(before) + len(whole) // 2


@given(start=st.integers(0, len(SECRET) - 16), before=st.binary(max_size=40), after=st.binary(max_size=40))
def test_any_sixteen_characters_in_a_row_are_found(start: int, before: bytes, after: bytes) -> None:
    assert search([Place("x", before + SECRET[start : start + 16].encode() + after)], LISTED)


@given(start=st.integers(0, len(SECRET) - 8))
def test_eight_characters_are_no_find(start: int) -> None:
    assert not search([Place("x", b"<" + SECRET[start : start + 8].encode() + b">")], LISTED)


@given(text=st.text(LETTERS + " -_/=\n", max_size=400))
def test_other_text_is_no_find(text: str) -> None:
    assert not search([Place("x", text.encode())], LISTED)


def test_the_public_part_of_a_value_is_no_find() -> None:
    assert not search([Place("x", b"sk-live-sk-live-sk-live-")], LISTED)


def test_a_finding_never_says_what_was_found() -> None:
    (finding,) = search([Place("x", VALUE.encode())], LISTED)
    assert SECRET not in repr(finding) + str(finding)


LEAKS = {
    "a log line": ("logging.getLogger('grpc').debug('sent %s', KEY)", "kept/loggers-"),
    "a traced line": ("RecordingLog().line('call', url='https://a.test/' + KEY)", "kept/lines-"),
    "standard output": ("print({'Authorization': KEY})", "kept/output-"),
    "an exception": ("with pytest.raises(ValueError):\n        raise ValueError(f'bad value {KEY}')", "kept/errors-"),
    "an exception's cause": (
        "with pytest.raises(ValueError):\n        try:\n            int(KEY)\n        except ValueError as e:\n"
        "            raise ValueError('no') from e",
        "kept/errors-",
    ),
    "a document": (
        "c = sqlite3.connect(tmp_path / 'd.sqlite'); c.execute('create table t (b blob)')\n"
        "    c.execute('insert into t values (?)', (b'x' * 9000 + KEY.encode(),)); c.commit(); c.close()",
        "tmp/popen-gw0/",
    ),
    "a function's log": (
        "(tmp_path / 'logs').mkdir(); (tmp_path / 'logs' / 'api.log').write_text(KEY[::-1])",
        "tmp/popen-gw0/",
    ),
    "an event": ("append('answers', 'data: ' + json.dumps({'content': KEY.encode().hex()}))", "kept/answers-"),
    "a prompt": ("asyncio.run(ask(KEY))", "kept/prompts-"),
    "a command's output": (
        "subprocess.Popen([sys.executable, '-c', f'print({KEY!r})'], stdout=subprocess.PIPE).communicate()",
        "kept/shell-",
    ),
}
IMPORTS = """
import asyncio, json, logging, pytest, sqlite3, subprocess, sys
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.model import ScriptedModel
from tests.canaries import canary
from tests.canaries.sink import append

async def ask(text):
    reply = Reply(content=(), stop_reason="end_turn", usage=Usage(input_tokens=1, output_tokens=1))
    await ScriptedModel([reply]).reply(Prompt(model="m", system=text, messages=(), tools=(), max_tokens=1))
"""
BEGIN = """
def test_{number}(tmp_path):
    KEY = canary.create_key({name!r})
    {code}
"""


def nested(tmp_path: Path, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Return a run of its own, with a seed and a folder of its own."""
    file = tmp_path / "test_nested.py"
    file.write_text(IMPORTS + code)
    inherited = {
        name: value for name, value in os.environ.items() if name not in (RUN, SEED) and not name.startswith("PYTEST_")
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.canaries.plugin", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(tmp_path), *options, str(file)]
    env = {**inherited, "TMPDIR": str(tmp_path)}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_a_run_in_which_something_leaks_fails_and_names_each_place(tmp_path: Path) -> None:
    """The leaks happen in a worker; the process that began the run finds them."""
    tests = [BEGIN.format(number=number, name=name, code=code) for number, (name, (code, _)) in enumerate(LEAKS.items())]
    ran = nested(tmp_path, "".join(tests), "-n", "1")
    assert f"{len(LEAKS)} passed" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 1
    missed = [name for name, (_, where) in LEAKS.items() if f"{name} stands in {where}" not in ran.stdout]
    assert missed == [], ran.stdout


def test_a_run_in_which_nothing_leaks_succeeds_and_leaves_nothing(tmp_path: Path) -> None:
    quiet = BEGIN.format(number=0, name="quiet", code="logging.getLogger('grpc').debug('sent %s', KEY[:8])")
    ran = nested(tmp_path, quiet)
    assert (ran.returncode, "1 canary credentials looked for" in ran.stdout) == (0, True), ran.stdout + ran.stderr
    assert list(tmp_path.glob("ferryman-run-*")) == []


def test_a_canary_of_a_conftest_that_is_imported_before_the_run_begins_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.canaries import canary\nKEY = canary.create_key('early')\n")
    ran = nested(
        tmp_path, "def test_early():\n    from conftest import KEY\n    logging.getLogger('grpc').debug('sent %s', KEY)\n"
    )
    assert ran.returncode == 1
    assert "early stands in kept/loggers-" in ran.stdout, ran.stdout + ran.stderr


def test_where_not_every_logger_is_at_debug_there_is_no_canary() -> None:
    sources = [path for folder in WITHOUT_CANARIES for path in (ROOT / folder).rglob("*.py")]
    assert sources
    assert [path.name for path in sources if "canar" in path.read_text()] == []
