"""The label of a file: that of the call that wrote it, joined with that of what was there, and nobody else's to set."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.files.writes import INTEGRITY, WRITES
from ferryman.domain.labels.label import OWNED, READ, Integrity
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.objects import MemoryObjects
from ferryman.tools.files.workspace_files import WorkspaceFiles
from tests.tools.files.test_hook import Call, W

from .conftest import Desktop

TRUSTED, UNTRUSTED = Integrity.TRUSTED, Integrity.UNTRUSTED
PIXEL = base64.b64decode("R0lGODlhAQABAAAAACw=")


async def write(tools: Desktop, integrity: Integrity, content: str = "hello", key: str = "a.md") -> None:
    tools.integrity = integrity
    await tools.read("file_write", key=key, content=content, content_type="text/plain")


async def read_label(tools: Desktop, tool: str = "file_read", key: str = "a.md") -> Integrity:
    await tools.read(tool, key=key)
    return tools.read_label


@pytest.mark.parametrize("integrity", Integrity)
async def test_a_file_keeps_the_label_that_it_was_written_with(tools: Desktop, integrity: Integrity) -> None:
    await write(tools, integrity)
    tools.integrity = TRUSTED
    assert await read_label(tools) is integrity


@pytest.mark.parametrize("others", [(TRUSTED, UNTRUSTED), (UNTRUSTED, TRUSTED), (UNTRUSTED, UNTRUSTED)])
async def test_a_write_over_a_file_joins_both_labels(tools: Desktop, others: tuple[Integrity, Integrity]) -> None:
    for integrity in others:
        await write(tools, integrity)
    assert await read_label(tools) is UNTRUSTED


@pytest.mark.parametrize("others", [(TRUSTED, UNTRUSTED), (UNTRUSTED, TRUSTED), (UNTRUSTED, UNTRUSTED)])
async def test_an_edit_joins_both_labels(tools: Desktop, others: tuple[Integrity, Integrity]) -> None:
    await write(tools, others[0])
    tools.integrity = others[1]
    await tools.read("file_edit", key="a.md", old_text="hello", new_text="bye", replace_all=False)
    assert tools.read_label is others[0]
    assert await read_label(tools) is UNTRUSTED


async def test_an_edit_of_a_trusted_file_with_trusted_words_is_trusted(tools: Desktop) -> None:
    await write(tools, TRUSTED)
    await tools.read("file_edit", key="a.md", old_text="hello", new_text="bye", replace_all=False)
    assert await read_label(tools) is TRUSTED


async def test_a_file_that_came_through_the_api_is_untrusted(tools: Desktop) -> None:
    tools.integrity = TRUSTED
    await tools.put("a.md", "hello")
    assert await read_label(tools) is UNTRUSTED


async def test_an_upload_over_a_trusted_file_is_untrusted(tools: Desktop) -> None:
    await write(tools, TRUSTED)
    await tools.put("a.md", "hello again")
    assert await read_label(tools) is UNTRUSTED


async def test_a_file_that_is_written_after_another_was_deleted_has_its_own_label(tools: Desktop) -> None:
    await write(tools, UNTRUSTED)
    await tools.files.delete("w", "a.md", write="delete.1")
    await write(tools, TRUSTED)
    assert await read_label(tools) is TRUSTED


@pytest.mark.parametrize(
    "metadata",
    [{}, {INTEGRITY: "trusted"}, {INTEGRITY: "trusted", WRITES: "e.0:0:4"}, {INTEGRITY: "Trusted", WRITES: "e.0:0:5"}],
)
async def test_an_object_that_somebody_else_stored_is_untrusted(metadata: dict[str, str]) -> None:
    objects = MemoryObjects(ManualClock())
    await objects.put("workspaces/w/a.md", b"hello", content_type="text/plain", metadata=metadata, expected="")
    assert await read_label(Desktop(WorkspaceFiles(objects))) is UNTRUSTED


async def test_a_version_that_is_gone_is_untrusted(tools: Desktop) -> None:
    await write(tools, TRUSTED)
    assert await tools.files.read_integrity("w", "a.md", version="another") is UNTRUSTED
    assert await tools.files.read_integrity("w", "none.md", version="1") is UNTRUSTED


@pytest.mark.parametrize("integrity", Integrity)
async def test_a_picture_is_told_of_with_its_label(tools: Desktop, integrity: Integrity) -> None:
    await write(tools, integrity, "<svg></svg>", "a.svg")
    assert await read_label(tools, "image_info", "a.svg") is integrity


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("file_list", {"prefix": "", "cursor": ""}),
        ("glob_search", {"pattern": "**", "cursor": ""}),
        ("content_search", {"query": "hello", "pattern": "**", "is_regex": False, "ignore_case": False, "cursor": ""}),
    ],
)
async def test_names_and_lines_of_many_files_are_untrusted(tools: Desktop, tool: str, arguments: dict[str, object]) -> None:
    await write(tools, TRUSTED)
    await tools.read(tool, **arguments)
    assert tools.read_label is UNTRUSTED


@pytest.mark.parametrize("label", [OWNED, READ])
async def test_the_result_of_a_call_has_the_label_of_the_file_that_it_read(label: object) -> None:
    call = Call()
    await call.execute("file_write", 0, key="a.md", content="hello", content_type="text/plain")
    if label == READ:
        call.memory.tickets["e"].clear()
        await call.path.files.write(W, "a.md", b"upload", content_type="text/plain", write="put.1")
    result = await call.read_result("file_read", 1, key="a.md")
    assert [replace(part.label, sources=()) for part in result.parts] == [label]


async def test_a_failed_call_has_read_what_a_stranger_may_decide() -> None:
    result = await Call().read_result("file_read", 0, key="none.md")
    assert [replace(part.label, sources=()) for part in result.parts] == [READ]


@pytest.mark.parametrize("about", [{}, {"read": True}, {"read": ["trusted"]}, {"read": "TRUSTED"}])
async def test_what_says_nothing_of_a_label_is_untrusted(about: dict[str, object]) -> None:
    hook = Call().path.calls.hooks["files"]
    assert hook.label_answer(KeylessAnswer("{}", None, about=about)) is None
    assert hook.label_answer(KeylessAnswer("{}", "not_found", about={"read": "trusted"})) is None
