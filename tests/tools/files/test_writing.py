"""Writing and editing: once for each call, in the workspace alone, and only what was asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.files.growth import EDIT_BYTES_MAX, measure_growth
from ferryman.domain.files.object import ABSENT, Object, ObjectChangedError
from ferryman.domain.files.writes import StoredWrite, read_writes
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.objects import MemoryObjects
from ferryman.tools.files import file_edit
from ferryman.tools.files.workspace_files import WorkspaceFiles
from tests.builders import START

from .conftest import Desktop

TEXT = "text/plain; charset=utf-8"


async def test_a_file_is_written_and_told(tools: Desktop) -> None:
    answered = await tools.read("file_write", key="/drafts//email.md", content="Hello, Zoë")
    assert answered == {"key": "drafts/email.md", "content_type": TEXT, "size_bytes": 11}
    assert (await tools.read("file_read", key="drafts/email.md"))["content"] == "Hello, Zoë"
    assert tools.done is None


async def test_a_file_is_replaced_with_its_type(tools: Desktop) -> None:
    await tools.read("file_write", key="a.md", content="one")
    await tools.read("file_write", key="a.md", content="twofold", content_type="text/markdown")
    assert tools.done.writes[0] == StoredWrite(name="exec_1.1", old_bytes=3, new_bytes=7)
    assert (await tools.read("file_read", key="a.md"))["content_type"] == "text/markdown"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"content": " \n"}, "Error: content: must not be blank"),
        ({"content": "\ud800"}, "Error: content: must be Unicode text"),
        ({"content": "x", "content_type": "text/plain\r\nx-evil: 1"}, "Error: content_type: must be 1 to 255 visible ASCII"),
        ({"content": "x", "key": "\u202e.."}, "Error: key: must name a file"),
    ],
)
async def test_what_cannot_be_written_is_told(tools: Desktop, arguments: dict[str, str], says: str) -> None:
    answered = await tools.ask("file_write", **{"key": "a.md", **arguments})
    assert (answered.code, answered.content[: len(says)], tools.done) == ("invalid_arguments", says, None)


async def test_a_call_that_comes_again_writes_once_and_answers_the_same(tools: Desktop) -> None:
    first = await tools.ask("file_write", key="a.md", content="one", write="exec_1.0")
    done = tools.done
    await tools.read("file_write", key="a.md", content="theirs", write="exec_2.0")
    assert await tools.ask("file_write", key="a.md", content="one", write="exec_1.0") == first
    assert tools.done.writes == done.writes
    assert (await tools.read("file_read", key="a.md"))["content"] == "theirs"


async def test_a_call_that_was_settled_before_writes_nothing_where_its_file_is_deleted(tools: Desktop) -> None:
    answered = await tools.ask("file_write", key="a.md", content="one", is_done=True)
    assert (answered.code, tools.done.writes) == (None, ())
    assert (await tools.ask("file_read", key="a.md")).code == "not_found"


async def test_an_edit_replaces_what_occurs_once(tools: Desktop) -> None:
    await tools.put("a.md", "one two one", "text/markdown")
    answered = await tools.read("file_edit", key="a.md", old_text="two", new_text="2", write="exec_1.5")
    assert answered == {"key": "a.md", "replaced": 1, "size_bytes": 9}
    assert await tools.read("file_edit", key="a.md", old_text="two", new_text="2", write="exec_1.5") == answered
    assert await tools.read("file_read", key="a.md") == {
        "key": "a.md",
        "content": "one 2 one",
        "content_type": "text/markdown",
        "encoding": "text",
        "size_bytes": 9,
    }


async def test_an_edit_of_all_counts_them(tools: Desktop) -> None:
    await tools.put("a.md", "one two one")
    assert (await tools.read("file_edit", key="a.md", old_text="one", new_text="", replace_all=True))["replaced"] == 2
    assert (await tools.read("file_read", key="a.md"))["content"] == " two "


@pytest.mark.parametrize(
    ("arguments", "says", "code"),
    [
        ({"old_text": "one"}, "Error: old_text: occurs 2 times", "invalid_arguments"),
        ({"old_text": "three"}, "Error: old_text: does not occur", "invalid_arguments"),
        ({"old_text": ""}, "Error: old_text: must not be empty", "invalid_arguments"),
        ({"old_text": "x"}, "Error: new_text: must be another than old_text", "invalid_arguments"),
        ({"old_text": "two", "key": "b.md"}, 'Error: no file at key "b.md" in this workspace', "not_found"),
    ],
)
async def test_an_edit_that_cannot_be_changes_nothing(tools: Desktop, arguments: dict[str, str], says: str, code: str) -> None:
    await tools.put("a.md", "one two one")
    answered = await tools.ask("file_edit", **{"key": "a.md", "new_text": "x", **arguments})
    assert (answered.code, answered.content[: len(says)], tools.done) == (code, says, None)
    assert (await tools.read("file_read", key="a.md"))["content"] == "one two one"


async def test_an_edit_of_what_somebody_else_has_written_meanwhile_is_of_that(
    tools: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tools.put("a.md", "one two")
    replace_text, others = file_edit.replace_text, ["three two"]

    def replace_later(*arguments: bytes, every: bool) -> tuple[bytes, int]:
        if others:  # between the read and the write of the edit
            stored, content = tools.files._objects._objects, others.pop().encode()  # type: ignore[attr-defined]
            entry, _ = stored["workspaces/w/a.md"]
            stored["workspaces/w/a.md"] = (
                type(entry)(**{**_fields(entry), "version": "9", "size_bytes": len(content)}),
                content,
            )
        return replace_text(*arguments, every=every)

    monkeypatch.setattr(file_edit, "replace_text", replace_later)
    await tools.read("file_edit", key="a.md", old_text="two", new_text="2")
    assert (await tools.read("file_read", key="a.md"))["content"] == "three 2"


def _fields(entry: object) -> dict[str, object]:
    return {name: getattr(entry, name) for name in type(entry).__dataclass_fields__}  # type: ignore[attr-defined]


async def test_a_file_does_not_grow_by_replacing_beyond_what_can_be_edited(tools: Desktop) -> None:
    await tools.put("a.md", "x" * 1_000)
    answered = await tools.ask("file_edit", key="a.md", old_text="x", new_text="y" * 2_000, replace_all=True)
    assert (answered.code, "longer than the 1,048,576 bytes" in answered.content) == ("invalid_arguments", True)
    await tools.put("b.md", "x" * (EDIT_BYTES_MAX + 1))
    assert "has more" in (await tools.ask("file_edit", key="b.md", old_text="x", new_text="y")).content


@pytest.mark.parametrize(
    ("changes", "arguments", "growth"),
    [
        (False, {"content": "abc"}, None),
        (True, {"content": "Zoë"}, 4),
        (True, {"content": 7}, 0),
        (True, {"content": "\ud800"}, 0),
        (True, {"old_text": "ab", "new_text": "abcde"}, 3),
        (True, {"old_text": "ab", "new_text": "abcde", "content": ""}, 3),
        (True, {"old_text": "ab", "new_text": "abcde", "content": "abcde"}, 5),
        (True, {"old_text": "ab", "new_text": "abcde", "content": "a"}, 3),
        (True, {"old_text": "abcde", "new_text": ""}, 0),
        (True, {"old_text": "a", "new_text": "abc", "replace_all": True}, EDIT_BYTES_MAX),
        (True, {"old_text": "a" * 600_000, "new_text": "a" * 600_007, "replace_all": True}, 7),
    ],
)
def test_the_growth_of_a_call_is_known_before_it(changes: bool, arguments: dict[str, object], growth: int | None) -> None:
    assert measure_growth(changes, arguments) == growth


class RacingObjects(MemoryObjects):
    """A bucket in which another delivery of the same write is always faster."""

    async def put(self, key: str, content: bytes, **named: Any) -> str:
        await super().put(key, content, **named)
        raise ObjectChangedError(key)


async def test_a_write_of_an_expected_version_that_another_delivery_has_made_is_done() -> None:
    files = WorkspaceFiles(RacingObjects(ManualClock()))
    done = await files.write("w", "a.md", b"x", content_type="text/plain", write="exec_1.0", expected=ABSENT)
    assert done.writes == (StoredWrite(name="exec_1.0", old_bytes=0, new_bytes=1),)


def test_metadata_that_do_not_fit_the_object_name_no_write() -> None:
    stored = Object(
        key="a",
        size_bytes=5,
        version="1",
        updated_at=START,
        content_type="text/plain",
        metadata={"writes": "exec_1.0:0:4"},
    )
    assert read_writes(stored) == ()
    assert read_writes(replace(stored, size_bytes=4)) == (StoredWrite(name="exec_1.0", old_bytes=0, new_bytes=4),)
