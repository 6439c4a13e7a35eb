"""Lists, patterns and searches: bounded, in linear time, and always with a way to go on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.tools.files import content_search, file_list, glob_search
from ferryman.tools.files.globs import Glob
from ferryman.tools.files.position import SearchPosition, read_position
from ferryman.tools.local_function.execute import LocalFunctionError

from .conftest import Desktop

KEYS = ["a.md", "notes/b.md", "notes/2026/c.md", "notes/2026/d.txt", "notes/[x].md"]


async def collect(tools: Desktop, tool: str, member: str, **arguments: Any) -> tuple[list[Any], int]:
    """Return all that a tool answers, call after call, and how many calls it took."""
    rows, cursor, calls = list[Any](), "", 0
    while cursor is not None:
        answered = await tools.read(tool, **arguments, **({"cursor": cursor} if cursor else {}))
        rows, cursor, calls = [*rows, *answered[member]], answered["cursor"], calls + 1
    return rows, calls


@pytest.fixture
async def full(tools: Desktop) -> Desktop:
    for key in KEYS:
        await tools.put(key, f"in {key}\nsecond line\n")
    await tools.put("notes/theirs.md", "in theirs", workspace="w2")
    return tools


async def test_the_files_of_the_workspace_are_listed(full: Desktop) -> None:
    answered = await full.read("file_list", prefix="notes/2026/")
    assert [row["key"] for row in answered["files"]] == ["notes/2026/c.md", "notes/2026/d.txt"]
    assert set(answered["files"][0]) == {"key", "size_bytes", "updated_at"}
    assert sorted(row["key"] for row in (await full.read("file_list"))["files"]) == sorted(KEYS)


async def test_a_list_that_does_not_fit_goes_on(full: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_list, "CHARACTERS_MAX", 150)
    rows, calls = await collect(full, "file_list", "files")
    assert (sorted(row["key"] for row in rows), calls > 1) == (sorted(KEYS), True)


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "notes/2026/c.md", "notes/[x].md", "notes/b.md"]),
        ("notes/**", ["notes/2026/c.md", "notes/2026/d.txt", "notes/[x].md", "notes/b.md"]),
        ("/notes/?.md", ["notes/b.md"]),
        ("notes/2026/[!d].*", ["notes/2026/c.md"]),
        ("notes/[a-c].md", ["notes/b.md"]),
        ("notes/[[]x].md", ["notes/[x].md"]),
        ("notes\\b.md", ["notes/b.md"]),
        ("../w2/**", []),
        ("none", []),
    ],
)
async def test_files_are_found_by_a_pattern_of_their_keys(full: Desktop, pattern: str, keys: list[str]) -> None:
    assert await full.read("glob_search", pattern=pattern) == {"keys": keys, "cursor": None}


async def test_a_search_of_keys_goes_on_where_it_ended(full: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("KEYS_MAX", 1), ("ENTRIES_MAX", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(glob_search, name, most)
            rows, calls = await collect(full, "glob_search", "keys", pattern="**/*.md")
        assert (len(rows), calls > 1) == (4, True)


@pytest.mark.parametrize("pattern", ["", "x" * 501, "notes/[z-a].md", "\ud800"])
async def test_a_pattern_that_is_none_is_told(full: Desktop, pattern: str) -> None:
    answered = await full.ask("glob_search", pattern=pattern)
    assert (answered.code, answered.content.startswith("Error: pattern: must")) == ("invalid_arguments", True)


async def test_a_pattern_of_too_many_wildcards_is_refused(full: Desktop) -> None:
    answered = await full.ask("glob_search", pattern="**" + "?" * 498)
    assert (answered.code, "too many wildcards" in answered.content) == ("invalid_arguments", True)


async def test_a_pattern_that_takes_long_is_matched_all_the_same(full: Desktop) -> None:
    assert not Glob("[n]?" * 20).is_quick
    assert (await full.read("glob_search", pattern="[n]" + "?" * 4 + "/20[0-9][0-9]/[a-c].[m]d"))["keys"] == ["notes/2026/c.md"]


@given(st.text("ab/*?[]!-.", min_size=1, max_size=12), st.text("ab/.", min_size=1, max_size=8))
def test_whatever_a_pattern_matches_begins_with_its_prefix(pattern: str, key: str) -> None:
    try:
        glob = Glob(pattern)
    except LocalFunctionError:
        return
    assert key.startswith(glob.prefix) or not glob.matches(key)


async def test_lines_are_found_with_their_numbers(full: Desktop) -> None:
    answered = await full.read("content_search", query="in notes/2026", pattern="notes/**")
    assert answered["matches"] == [
        {"key": "notes/2026/c.md", "line": 1, "text": "in notes/2026/c.md"},
        {"key": "notes/2026/d.txt", "line": 1, "text": "in notes/2026/d.txt"},
    ]
    assert (answered["files_searched"], answered["cursor"]) == (4, None)


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"query": "IN A.MD"}, 0),
        ({"query": "IN A.MD", "ignore_case": True}, 1),
        ({"query": "in a.md", "is_regex": False}, 1),
        ({"query": "in a.m."}, 0),
        ({"query": "^in .*[cd]\\.(md|txt)$", "is_regex": True}, 2),
        ({"query": "theirs"}, 0),
    ],
)
async def test_a_query_is_a_text_unless_it_is_said_to_be_an_expression(
    full: Desktop, arguments: dict[str, Any], count: int
) -> None:
    assert len((await full.read("content_search", **arguments))["matches"]) == count


async def test_a_search_goes_on_in_the_middle_of_a_file(tools: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    await tools.put("a.txt", "".join(f"line {number}\n" for number in range(1, 41)))
    await tools.put("b.bin", b"\xff\xfe line", "application/octet-stream")
    await tools.put("c.txt", "line without an end")
    for name, most in (("MATCHES_MAX", 7), ("BYTES_MAX", 50), ("FILES_MAX", 1), ("ENTRIES_MAX", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(content_search, "WINDOW_BYTES", 64)
            patch.setattr(content_search, name, most)
            rows, calls = await collect(tools, "content_search", "matches", query="line")
        numbers = [row["line"] for row in rows if row["key"] == "a.txt"]
        assert (numbers, rows[-1]["key"], calls > 1) == (list(range(1, 41)), "c.txt", True)
        assert {row["key"] for row in rows} == {"a.txt", "c.txt"}


async def test_an_answer_has_no_more_lines_than_it_may(tools: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_search, "MATCHES_MAX", 7)
    await tools.put("a.txt", "line\n" * 40)
    assert len((await tools.read("content_search", query="line"))["matches"]) == 7


@pytest.mark.parametrize("query", ["a{1000}b", "(?:" + "a" * 400 + "){2,20}b"])
async def test_an_expression_of_many_instructions_is_searched_for_in_less_at_a_time(tools: Desktop, query: str) -> None:
    await tools.put("long", f"{'x' * 99}\n" * 4_500 + f"{'a' * 1_200}b\n")
    cursor: str | None = ""
    read, lines = list[int](), list[int]()
    while cursor is not None:
        answer = await tools.read("content_search", query=query, is_regex=True, cursor=cursor)
        cursor, read = answer["cursor"], [*read, answer["bytes_read"]]
        lines += [match["line"] for match in answer["matches"]]
    assert max(read) <= content_search.STEPS_MAX // 1_000
    assert (len(read) > 1, lines) == (True, [4_501])


async def test_a_long_line_is_shown_around_its_match(tools: Desktop) -> None:
    await tools.put("a.txt", "x" * 5_000 + "here" + "y" * 5_000)
    (row,) = (await tools.read("content_search", query="here"))["matches"]
    assert ("here" in row["text"], len(row["text"]), row["text"][0] + row["text"][-1]) == (True, 302, "……")


@pytest.mark.parametrize("ignore_case", [False, True])
async def test_a_text_across_two_pieces_of_a_long_line_is_found(
    tools: Desktop, monkeypatch: pytest.MonkeyPatch, ignore_case: bool
) -> None:
    monkeypatch.setattr(content_search, "WINDOW_BYTES", 8_192)
    for place in (8_190, 8_192 - 1_999, 2 * 8_192 - 2_001):
        text = "é" * 249 + "ß"
        await tools.put("a.txt", f"first\n{'x' * (place - 6)}{text}{'x' * 8_192}\nlast {text}\n")
        rows, _ = await collect(tools, "content_search", "matches", query=text, ignore_case=ignore_case)
        assert [row["line"] for row in rows] == [2, 3]


async def test_a_line_that_matches_in_several_pieces_is_told_once(tools: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_search, "WINDOW_BYTES", 64)
    await tools.put("a.txt", "here " * 100 + "\nhere\n")
    await tools.put("b.txt", "\nhere\n")
    rows, _ = await collect(tools, "content_search", "matches", query="here")
    assert [(row["key"], row["line"]) for row in rows] == [("a.txt", 1), ("a.txt", 2), ("b.txt", 2)]


@pytest.mark.parametrize("query", ["(a)\\1", "(?=a)", "a{5000}", "(", "", "x" * 501, "\ud800"])
async def test_an_expression_that_is_none_or_takes_no_linear_time_is_told(tools: Desktop, query: str) -> None:
    answered = await tools.ask("content_search", query=query, is_regex=True)
    assert (answered.code, answered.content.startswith("Error: query: must")) == ("invalid_arguments", True)


@pytest.mark.parametrize("cursor", ["x", "é", "bm8", "W10", "WzEsMiwzLDRd", "a" * 5_000, "W251bGwsLTEsMCwxXQ"])
@pytest.mark.parametrize("tool", ["file_list", "glob_search", "content_search"])
async def test_a_cursor_that_no_tool_answered_is_told(tools: Desktop, tool: str, cursor: str) -> None:
    answered = await tools.ask(tool, cursor=cursor, pattern="*", query="a")
    assert (answered.code, answered.content.startswith("Error: cursor:")) == ("invalid_arguments", True)


async def test_the_cursor_of_another_workspace_leads_nowhere(tools: Desktop) -> None:
    await tools.put("a.md", "x", workspace="w2")
    cursor = SearchPosition(page="workspaces/w2/a").format()
    answered = await tools.ask("file_list", cursor=cursor)
    assert (answered.code, "none of this list" in answered.content) == ("invalid_arguments", True)


@given(st.none() | st.text(max_size=50), st.integers(0, 1 << 39), st.integers(0, 1 << 39), st.integers(1, 1 << 39))
def test_a_position_is_read_as_it_was_written(page: str | None, skip: int, offset: int, line: int) -> None:
    position = SearchPosition(page=page, skip=skip, offset=offset, line=line)
    assert read_position(position.format()) == position
