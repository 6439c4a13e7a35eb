"""Files over HTTP: paths that lead out, files of others, names and types that would be headers, links, and more than fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tests.campaigns.hostile.filed import FILES, LINKS
from tests.campaigns.hostile.member import ADMIN, EXPIRED, READER, REMOVED, REVOKED, STRANGER, VIEWER, Member
from tests.campaigns.hostile.scenario import Act, Scenario, call, call_tools, finish

BOARD = Act(to="api", method="PUT", path=f"{FILES}board.md", body="{secret}", status=200)
SECRET = replace(BOARD, path=f"{FILES}{{secret}}/plan.md")
LINK = Act(to="api", method="GET", path=f"{LINKS}?key=board.md", status=200)
PLACE = {"Ferryman-Workspace": "{other}"}
OUTSIDE = {
    "dots": "..%2f{other}%2fboard.md",
    "dots, all of them escaped": "%2e%2e%2f%2e%2e%2fworkspaces%2f{other}%2fboard.md",
    "dots, escaped twice": "%252e%252e%252f{other}%252fboard.md",
    "dots in the middle": "x%2f..%2f..%2f{other}%2fboard.md",
    "dots and backslashes": "..%5c..%5cworkspaces%5c{other}%5cboard.md",
    "dots with something unseen between": ".%e2%80%8b.%2f{other}%2fboard.md",
    "dots of full width": "%ef%bc%8e%ef%bc%8e%ef%bc%8f{other}%2fboard.md",
    "dots in more bytes than they need": "%c0%ae%c0%ae%2f{other}%2fboard.md",
    "a parameter after dots": "..;%2f{other}%2fboard.md",
    "an absolute path": "%2fworkspaces%2f{other}%2fboard.md",
    "the name of the object": "workspaces/{other}/board.md",
    "an empty part": "%2f%2f{other}%2f%2fboard.md",
    "a zero at the end": "..%2f{other}%2fboard.md%00.txt",
    "a line end": "board.md%0d%0aFerryman-Workspace:%20{other}",
    "another query": "board.md%3fworkspace={other}%23",
}
UNCLEAN = dict.fromkeys(("dots", "dots and backslashes", "an absolute path", "an empty part", "a zero at the end"), 422)
UNCLEAN["a line end"] = 404  # no path has one


def _attack(what: str, *acts: Act, members: tuple[Member, ...] = (), **more: Any) -> Scenario:
    """Return a scenario whose attacker asks beside a victim who keeps files; that one's are nowhere in the answers."""
    return Scenario(
        name=f"download: {what}",
        victim=True,
        victim_s=1.0,
        acts_alone=True,
        keys=(),
        victim_before=(BOARD, SECRET, LINK),
        acts=acts,
        members=members,
        **more,
    )


def _get(path: str, status: int | None = None, **more: Any) -> Act:
    return Act(to="api", method="GET", path=path, status=status, **more)


def _put(path: str, status: int | None = None, body: Any = "x", **more: Any) -> Act:
    return Act(to="api", method="PUT", path=path, status=status, body=body, **more)


def _group(names: Sequence[str], size: int) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield so many of the names at a time, with what they are together."""
    for at in range(0, len(names), size):
        group = names[at : at + size]
        yield f"{group[0][:40]} to {group[-1][:40]}", group


TRAVERSAL = (
    *(
        _attack(
            f"out by {what}",
            *(_get(f"{FILES}{OUTSIDE[name]}", 404) for name in group),
            *(_get(f"{LINKS}?key={OUTSIDE[name]}", 404) for name in group),
            *(Act(to="api", method="DELETE", path=f"{FILES}{OUTSIDE[name]}", status=404) for name in group),
        )
        for what, group in _group(list(OUTSIDE), 5)
    ),
    _attack("stored out", *(_put(f"{FILES}{OUTSIDE[what]}", status) for what, status in UNCLEAN.items())),
    _attack(
        "lists that begin elsewhere",
        *(
            _get(f"/v1/files?prefix={prefix}")
            for prefix in (
                "..%2f{other}%2f",
                "%2fworkspaces%2f{other}%2f",
                "workspaces/{other}/",
                "%2e%2e",
                "..%5c",
                "%00",
                "{other}",
            )
        ),
        *(_get(f"/v1/files?after={cursor}") for cursor in ("{other}", "workspaces%2f{other}%2f", "..%2f")),
    ),
)
OTHERS = (
    _attack(
        "a workspace of another owner's",
        *(_get(path, 404, headers=PLACE) for path in ("/v1/files", f"{FILES}board.md", f"{LINKS}?key=board.md")),
        _put(f"{FILES}board.md", 404, headers=PLACE),
        Act(to="api", method="DELETE", path=f"{FILES}board.md", status=404, headers=PLACE),
    ),
    _attack(
        "nobody's key",
        *(_get(path, 401, bearer="none") for path in ("/v1/files", f"{FILES}board.md", f"{FILES}board.md?link={{vlink}}")),
    ),
    *(
        _attack(
            f"changed by {member.name}",
            _put(f"{FILES}board.md", 403 if member is not REMOVED else None, bearer=member.name),
            Act(to="api", method="DELETE", path=f"{FILES}board.md", bearer=member.name, status=403),
            members=(member,),
        )
        for member in (VIEWER, READER)
    ),
    *(
        _attack(
            f"read by who is {member.name}",
            *(
                _get(path, 401, bearer=member.name)
                for path in ("/v1/files", f"{FILES}board.md", f"{FILES}board.md?link={{vlink}}")
            ),
            _put(f"{FILES}board.md", 401, bearer=member.name),
            members=(member,),
        )
        for member in (REVOKED, REMOVED, EXPIRED)
    ),
    _attack(
        "another workspace of the owner's",
        _get(f"{FILES}board.md", 404, bearer="stranger", headers=PLACE),
        _get(f"{FILES}board.md", 404, bearer="stranger"),
        members=(STRANGER,),
    ),
)
STORED, STORED_LINK = _put(f"{FILES}a.md", 200), _get(f"{LINKS}?key=a.md", 200)
AT = f"{FILES}a.md?link="
REPLAYED = (
    _attack(
        "a link of another owner's",
        _get(f"{FILES}board.md?link={{vlink}}", 403),
        _get(f"{FILES}board.md?link={{vlink}}", 404, headers=PLACE),
    ),
    _attack(
        "a link of another owner's for a file of one's own",
        _put(f"{FILES}board.md", 200),
        _get(f"{FILES}board.md?link={{vlink}}", 403),
    ),
    _attack(
        "a link in the hands of another key", _get(f"{FILES}board.md?link={{vlink}}", 403, bearer="admin"), members=(ADMIN,)
    ),
    _attack("a link whose time is over", STORED, _get(f"{AT}{{late}}", 403)),
    _attack("a link under a key that was made up", STORED, _get(f"{AT}{{foreign}}", 403)),
    _attack("a link of another workspace", STORED, _get(f"{AT}{{elsewhere}}", 403)),
    _attack("a link for another file", STORED, STORED_LINK, _put(f"{FILES}b.md", 200), _get(f"{FILES}b.md?link={{link}}", 403)),
    _attack(
        "a link to a version that was replaced",
        STORED,
        STORED_LINK,
        _get(f"{AT}{{link}}", 200),
        replace(STORED, body="y"),
        _get(f"{AT}{{link}}", 404),
    ),
    _attack(
        "a link that was changed",
        STORED,
        STORED_LINK,
        *(
            _get(f"{AT}{form}", 403)
            for form in (
                "{link|reversed}",
                "{link|upper}",
                "{link|lower}",
                "{link|rot13}",
                "{link}A",
                "{link}%3d",
                "{link|head}",
                "{link|tail}",
                "A{link}",
                "{link}{link}",
                "",
                "%00",
            )
        ),
        _get(f"{AT}{{link}}&link={{late}}", 403),
        _get(f"{AT}{{link}}", 200),
    ),
    _attack(
        "a link of a day",
        *(_get(f"{LINKS}?key=a.md&expires_in_s={seconds}", 422) for seconds in ("86400", "0", "-1", "1e9", "901")),
    ),
)
TYPES = (
    *(
        "text/html",
        "image/svg+xml",
        "application/xhtml+xml",
        "text/xml",
        "application/pdf",
        "text/javascript",
        "message/rfc822",
    ),
    *("multipart/x-mixed-replace; boundary=x", "text/html; charset=utf-7", "text/html, text/plain", 'text/html; a="', "*/*"),
    *("text", "a/" + "b" * 2_000, "application/x-shockwave-flash", "text/html;\tx", "application/vnd.ferryman.deleted"),
)
NAMES = (
    *(
        "a%22;%20filename=%22b.html",
        "a.html%22%20x=%22",
        "a%27%27b.svg",
        "%c3%a9.html",
        "%25%32%32.html",
        "a;b.html",
        "a%20.html",
    ),
    *(
        "%e2%80%ae.lmth",
        "a%0d%0aset-cookie:%20a=b",
        "a%0aLocation:%20x",
        "a%00.html",
        "a%7f.html",
        "a%c2%85b",
        "%f0%9f%98%80.svg",
        "x" * 500,
    ),
    *(".htaccess", "con", "a.html.", "=cmd%7c.csv", "%ef%bc%82.html", "a%2cb", "%3cscript%3e.svg", "%ff%fe.html"),
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
DISPLAYED = (
    *(
        _attack(
            f"of the types {what}",
            *(
                act
                for kind in group
                for act in (_put(f"{FILES}a.svg", body=SVG, headers={"content-type": kind}), _get(f"{FILES}a.svg"))
            ),
        )
        for what, group in _group(TYPES, 7)
    ),
    *(
        _attack(
            f"of the names {what}",
            *(
                act
                for name in group
                for act in (_put(f"{FILES}{name}", body=SVG, headers={"content-type": "text/html"}), _get(f"{FILES}{name}"))
            ),
        )
        for what, group in _group(NAMES, 7)
    ),
    _attack(
        "in parts that are none",
        _put(f"{FILES}a.html", 200, body=SVG),
        *(
            _get(f"{FILES}a.html", headers={"range": part})
            for part in (
                "bytes=0-0,1-1,2-2",
                "bytes=-99999999999999999999999",
                "bytes=5-1",
                "bytes=0-" + "9" * 3_000,
                "lines=1-2",
                "bytes=" + "0-0," * 500,
            )
        ),
        *(_get(f"{FILES}a.html", headers={"if-none-match": tag}) for tag in ('"' + "a" * 3_000 + '"', 'W/"x", *', "*", "\x01")),
        _get(f"{FILES}a.html", headers={"if-range": '"x"', "range": "bytes=1-2"}),
    ),
    _attack(
        "asked for by a page of another origin",
        _put(f"{FILES}a.html", 200, body=SVG),
        _get(f"{FILES}a.html", headers={"origin": "https://{thief}"}),
    ),
)
ROOM, PART = 50_000, "a" * 10_000
"""Room for four of these parts, each of which has two more bytes."""

WRITERS = _put(f"{FILES}{{number}}.txt", body=PART, times=24, at_once=16, most=4)
FULL = (
    _attack("more than there is room for, at once", WRITERS, room=ROOM),
    _attack("one file by many at once", _put(f"{FILES}a.txt", body=PART, times=20, at_once=16), room=ROOM),
    _attack(
        "a new file by many at once",
        _put(f"{FILES}a.txt", body=PART, times=16, at_once=16, most=1, headers={"if-none-match": "*"}),
        room=ROOM,
    ),
    _attack(
        "deleted and stored, at once and again",
        replace(WRITERS, times=8),
        Act(to="api", method="DELETE", path=f"{FILES}{{number}}.txt", times=8, at_once=8),
        replace(WRITERS, path=f"{FILES}again/{{number}}.txt", times=12),
        room=ROOM,
    ),
    Scenario(
        name="download: more than there is room for, by a model and its person",
        victim=True,
        victim_s=1.0,
        keys=(),
        tools=("file_write", "file_edit"),
        acts=(replace(WRITERS, times=3, most=3),),
        turns=(
            call_tools(*(call("file_write", key=f"m/{number}.txt", content=PART) for number in range(10))),
            call_tools(*(call("file_edit", key="0.txt", old_text="a", new_text="bb" * 50, replace_all=True) for _ in range(3))),
            finish(),
        ),
        room=ROOM,
    ),
    Scenario(
        name="download: more than there is room for, by a model",
        keys=(),
        tools=("file_write",),
        turns=(call_tools(*(call("file_write", key=f"{number}.txt", content=PART) for number in range(16))), finish()),
        room=ROOM,
    ),
)

SCENARIOS = (*TRAVERSAL, *OTHERS, *REPLAYED, *DISPLAYED, *FULL)
