"""Archives of workspaces: lines of files that lead out, lie or never end, and exports and imports by who may not."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from tests.campaigns.hostile.archived import IMPORTS_FORGED
from tests.campaigns.hostile.filed import FILES
from tests.campaigns.hostile.member import ADMIN, EXPIRED, READER, REMOVED, REVOKED, STRANGER, VIEWER, Member
from tests.campaigns.hostile.scenario import Act, Scenario
from tests.campaigns.hostile.scenarios.downloads import BOARD

STORE = Act(to="api", method="PUT", path=f"{FILES}a.md", body="x", status=200)
BEGIN = {
    **{"format": "ferryman-workspace/1", "workspace": "ws_there", "name": "Kitchen", "digest": "1" * 64, "files": 1},
    **{"counts": {"workspace": 1, "files": 1}, "file_bytes": 6, "keys": {}},
}
Lines = list[dict[str, Any]]


def _write(key: str, content: bytes = b"Hello.", **about: Any) -> Lines:
    """Return the lines of a file in one part."""
    first = {"key": key, "content_type": "text/plain", "size_bytes": len(content), "updated_at": "2026-11-23T09:00:00Z"}
    part = {"kind": "part", "content": base64.b64encode(content).decode()}
    return [
        {"kind": "file", **first, **about},
        part,
        {"kind": "end", "key": key, "sha256": hashlib.sha256(content).hexdigest()},
    ]


def _import(*lines: Mapping[str, Any], status: int | None = 422, **forged: Any) -> Act:
    """Return the import of an archive with these lines of files."""
    return Act(to="api", method=IMPORTS_FORGED, path="/v1/imports", body={"lines": lines, **forged}, status=status)


def _attack(what: str, *acts: Act, members: tuple[Member, ...] = ()) -> Scenario:
    """Return a scenario whose attacker asks beside a victim who keeps a file: it stays as it is, and nothing of it is told."""
    return Scenario(
        name=f"archive: {what}",
        victim=True,
        victim_s=1.0,
        acts_alone=True,
        keys=(),
        victim_before=(BOARD,),
        acts=acts,
        members=members,
    )


FIRST, PART, END = _write("a")
SCENARIOS = (
    _attack(
        "files that lead out",
        STORE,
        _import(*_write("../../{other}/board.md")),
        _import(*_write("/workspaces/{other}/board.md")),
        _import(*_write("..\\{other}\\board.md")),
    ),
    _attack(
        "keys of two spellings",
        STORE,
        _import(*_write("caf\u0065\u0301.md")),
        _import(*_write("k" * 600)),
        _import(*_write("a"), *_write("a")),
    ),
    _attack(
        "sizes and digests that lie",
        STORE,
        _import(*_write("a", size_bytes=5)),
        _import(FIRST, PART, {**END, "sha256": "0" * 64}),
        _import(FIRST, PART, PART, END),
    ),
    _attack(
        "more than there is room for",
        STORE,
        _import(*_write("a"), begins={"file_bytes": 10**15}, status=409),
        _import(*_write("a", size_bytes=31_457_281)),
        _import(FIRST, *(PART for _ in range(1_000))),
    ),
    _attack(
        "bombs, and what is deleted meanwhile",
        STORE,
        _import(*_write("a"), packed=True),
        _import(*_write("a"), goes=True, status=404),
    ),
    _attack(
        "into the workspace of another owner",
        Act(to="api", method="PUT", path="/v1/imports/{vworkspace}/files?number=0", body={"any": "thing"}, status=404),
        Act(to="api", method="GET", path="/v1/imports/{vworkspace}", status=404),
        Act(to="api", method="GET", path="/v1/workspaces/{vworkspace}/export", status=404),
    ),
    *(
        _attack(
            f"exported and imported by who is {member.name}",
            Act(to="api", method="GET", path="/v1/workspaces/{other}/export", bearer=member.name, status=exported),
            Act(to="api", path="/v1/imports", body=BEGIN, bearer=member.name, status=imported),
            members=(member,),
        )
        for member, exported, imported in (
            *((VIEWER, 403, 403), (READER, 403, 403), (STRANGER, 404, 403)),
            *((REVOKED, 401, 401), (REMOVED, 401, 401), (EXPIRED, 401, 401)),
        )
    ),
    _attack(
        "imported by an admin", Act(to="api", path="/v1/imports", body=BEGIN, bearer="admin", status=403), members=(ADMIN,)
    ),
)
