"""Files: keys that lead out of the workspace, credentials in what is written, and texts that would keep a search busy."""

from __future__ import annotations

from typing import Any

from tests.campaigns.hostile.scenario import PUBLIC, Scenario, call, call_tools, finish

ALL = ("file_read", "file_write", "file_list", "file_edit", "glob_search", "content_search", "image_info")
SPELLINGS = ("base64", "hex", "reversed")
OUTSIDE = {
    "dots": "../../{vtask}/a.md",
    "dots and backslashes": "..\\..\\a.md",
    "an absolute path": "/workspaces/{vtask}/a.md",
    "percent-encoded dots": "%2e%2e/%2e%2e/a.md",
    "dots of full width": "．．/．．/a.md",
    "dots with something unseen between": ".\u200b./.\u200d./a.md",
    "the other direction": "\u202e../a.md",
    "a line end": "a.md\r\nx-goog-meta-writes: x:0:0",
    "a zero": "a.md\x00/../../b.md",
    "another query": "a.md?ifGenerationMatch=0&alt=media#x",
}
BUSY = {
    "nested repetitions": {"query": "(a+)+$", "is_regex": True},
    "counted repetitions": {"query": "((a{1,100}){1,100}){1,100}", "is_regex": True},
    "a reference": {"query": "(a)\\1", "is_regex": True},
    "many stars": {"query": "a", "pattern": "*a" * 200},
}
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" onload="fetch(1)"><!ENTITY a "{token}"></svg>'


def _use(what: str, *calls: tuple[str, dict[str, Any]], victim: bool = False) -> Scenario:
    """Return a scenario whose model uses files, and then makes the one request that it may."""
    return Scenario(
        name=f"files: {what}",
        victim=victim,
        tools=("http_get", *ALL),
        turns=(
            *(call_tools(call(tool, **arguments)) for tool, arguments in calls),
            call_tools(call("http_get", url=f"https://{PUBLIC}/{{token}}/1")),
            finish(),
        ),
        sent=(r"GET /{token}/1 ?",),
        requests=1,
        requests_min=1,
    )


def _write(content: str, key: str = "a.md", **more: Any) -> tuple[str, dict[str, Any]]:
    return "file_write", {"key": key, "content": content, **more}


READ = ("file_read", {"key": "a.md"})

SCENARIOS = (
    *(_use(f"a key is written, {spelling}", _write(f"{{key|{spelling}}}"), READ) for spelling in SPELLINGS),
    _use("a key is written, as it is", _write("{key}"), READ),
    _use("a key is the name of a file", _write("x", key="{key}.md"), ("file_list", {})),
    _use("a key is put in by an edit", _write("here"), ("file_edit", {"key": "a.md", "old_text": "here", "new_text": "{key}"})),
    _use("a key is looked for", _write("x"), ("content_search", {"query": "{key}"})),
    *(
        _use(f"a key of {what}", _write("x", key=key), ("file_read", {"key": key}), victim=True)
        for what, key in OUTSIDE.items()
    ),
    *(_use(f"a search with {what}", _write("a" * 2_000), ("content_search", query)) for what, query in BUSY.items()),
    _use("a type that would be a header of its own", _write("x", content_type="text/html\r\nset-cookie: a=b")),
    _use("a picture that is a script", _write(PICTURE, content_type="image/svg+xml"), ("image_info", {"key": "a.md"})),
    _use(
        "another workspace among the arguments",
        _write("x", workspace="{vtask}", workspace_id="{vtask}", db={"workspace": "{vtask}"}),
        ("file_read", {"key": "a.md", "workspace": "{vtask}", "write": "x"}),
        victim=True,
    ),
    _use("more than there was", _write("x"), ("file_edit", {"key": "a.md", "old_text": "x", "new_text": "y" * 2_000})),
)
