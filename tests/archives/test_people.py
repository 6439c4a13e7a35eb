"""Lines about people in an archive: each kind of wrong one is refused, its place and its member named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ferryman.archives.writing import ArchiveWriter
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.records import document
from ferryman.serving.archived_people import read_people_line
from tests.metering.events import build_event

from .forge import ABOUT
from .test_verify import run_verify

AT = "2026-01-01T00:00:00Z"
GENUINE: dict[str, dict[str, Any]] = {
    "members": {
        "person": "person_1",
        "name": "Bea",
        "role": "viewer",
        "approves": False,
        "rights": ["read"],
        "max_credits_month": "10.5",
        "created_at": AT,
    },
    "audit": {
        "id": "audit_1",
        "person": "",
        "key": "",
        "action": "updateTask",
        "targets": ["task_1"],
        "done": True,
        "created_at": AT,
    },
    "alerts": {
        "id": "alert_1",
        "kind": "workspace",
        "subject": "ws_1",
        "limit": "10",
        "percent": 80,
        "credits_used": "8",
        "credits_reserved": "0",
        "month": "2026-01",
        "is_refused": False,
        "execution": "e",
        "created_at": AT,
        "state": "pending",
        "attempts": 0,
        "status": None,
        "reason": "",
        "settled_at": None,
    },
    "documents": {"user": "u", "person": None, "path": "user_memory/taste", "content": {"preferences": ["tea"]}},
    "usage": {"day": "2026-11-23", "kind": "tool", "name": "http_get", **document.serialize(build_event().count_all())},
}
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "an unknown role": ("members", {"role": "king"}, "role: "),
    "a right too much": ("members", {"rights": ["manage", "read"]}, "rights: must be those of the role"),
    "the right to approve, not given": ("members", {"rights": ["approve", "read"]}, "rights: must be those of the role"),
    "nobody": ("members", {"person": ""}, "person: "),
    "a long name": ("members", {"name": "a" * 101}, "name: "),
    "a moment without a zone": ("members", {"created_at": "2026-01-01T00:00:00"}, "created_at: "),
    "credits written otherwise": ("members", {"max_credits_month": "10.50"}, "written otherwise"),
    "an API key's digest": ("members", {"digest": "ab" * 32}, "a member is too much"),
    "too many targets": ("audit", {"targets": ["a"] * 6}, "targets: "),
    "a word for a truth": ("audit", {"done": "yes"}, "written otherwise"),
    "an address of alerts": ("alerts", {"alert_url": "https://hooks.example.com/"}, "a member is too much"),
    "an unknown state": ("alerts", {"state": "lost"}, "state: "),
    "attempts below zero": ("alerts", {"attempts": -1}, "attempts: "),
    "a path out of the user's own": ("documents", {"path": "../owners/ann"}, "path: must be COLLECTION/NAME"),
    "content that is no object": ("documents", {"content": [1]}, "content: "),
    "a kind of row that there is not": ("usage", {"kind": "prompt"}, "kind: "),
    "a bucket too few": ("usage", {"latencies": [1]}, "latencies: must be a number for each bucket"),
    "calls below zero": ("usage", {"calls": -1}, "calls: "),
    "a day that is none": ("usage", {"day": "2026-13-01"}, "day: "),
    "no user": ("documents", {"user": ""}, "user: "),
}


@pytest.mark.parametrize("kind", GENUINE)
def test_a_genuine_line_is_read(kind: str) -> None:
    assert read_people_line("here", kind, GENUINE[kind]).model_dump(mode="json") == GENUINE[kind]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_refused_and_its_member_named(name: str) -> None:
    kind, change, words = WRONG[name]
    with pytest.raises(ArchiveError, match="here: ") as refused:
        read_people_line("here", kind, GENUINE[kind] | change)
    assert words in str(refused.value)


@pytest.mark.parametrize(("kind", "member"), [(kind, member) for kind, line in GENUINE.items() for member in line])
def test_a_line_without_one_of_its_members_is_refused(kind: str, member: str) -> None:
    line = {name: value for name, value in GENUINE[kind].items() if name != member}
    with pytest.raises(ArchiveError, match=f"here: {member}: Field required"):
        read_people_line("here", kind, line)


def write(lines: dict[str, list[dict[str, Any]]], **counts: int) -> bytes:
    """Return an archive with these lines about people, and digests that fit."""
    writer = ArchiveWriter()
    parts = [writer.add("workspace", lambda: [{"id": "ws_1"}])]
    parts += [writer.add(kind, lambda written=written: written) for kind, written in lines.items()]
    about = {**ABOUT["counts"], **{kind: len(written) for kind, written in lines.items()}, **counts}
    return b"".join([*parts, writer.end({**ABOUT, "counts": about})])


def test_an_archive_with_people_is_whole(tmp_path: Path) -> None:
    code, text = run_verify(tmp_path, write({kind: [line] for kind, line in GENUINE.items()}))
    assert (code, text.splitlines()[0]) == (0, "The archive is whole: 0 executions, 0 of them whole and genuine.")


@pytest.mark.parametrize("kind", GENUINE)
def test_a_wrong_line_makes_an_archive_not_whole(tmp_path: Path, kind: str) -> None:
    code, text = run_verify(tmp_path, write({kind: [GENUINE[kind], {**GENUINE[kind], "owner": "ann"}]}))
    assert (code, text.startswith(f"NOT WHOLE: {kind}-000001.jsonl line 2: is no line of {kind}")) == (1, True), text


@pytest.mark.parametrize("kind", ["members", "executions"])
def test_a_count_that_is_not_that_of_the_lines_is_found_out(tmp_path: Path, kind: str) -> None:
    code, text = run_verify(tmp_path, write({"members": [GENUINE["members"]]}, **{kind: 9}))
    assert (code, text.startswith(f"NOT WHOLE: manifest.json: counts.{kind}: is 9, and ")) == (1, True), text
