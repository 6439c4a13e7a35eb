"""Reading: texts as they are, other files in base64, nothing cut in silence, and nothing of another workspace."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.files.texts import TEXT_CHARACTERS_MAX, is_text_type, show_text

from .conftest import Desktop

BINARY = bytes(range(256))


async def test_a_text_is_told_with_its_type_and_size(tools: Desktop) -> None:
    await tools.put("uploads/trip-notes.md", "# Trip\n", "text/markdown")
    assert await tools.read("file_read", key="uploads/trip-notes.md") == {
        "key": "uploads/trip-notes.md",
        "content": "# Trip\n",
        "content_type": "text/markdown",
        "encoding": "text",
        "size_bytes": 7,
    }


@pytest.mark.parametrize(
    ("content_type", "is_text"),
    [
        ("text/plain; charset=latin-1", True),
        ("TEXT/Markdown", True),
        ("application/json;charset=utf-8", True),
        ("application/xml", True),
        ("application/yaml", True),
        ("application/javascript", True),
        ("", True),
        (" ; charset=utf-8", True),
        ("application/jsonp", False),
        ("application/octet-stream", False),
        ("image/svg+xml", False),
        ("x-text/plain", False),
    ],
)
def test_which_types_are_text(content_type: str, is_text: bool) -> None:
    assert is_text_type(content_type) is is_text


@pytest.mark.parametrize("content_type", ["application/pdf", "text/plain"])
async def test_what_is_no_text_by_its_type_or_its_bytes_is_told_in_base64(tools: Desktop, content_type: str) -> None:
    await tools.put("a.bin", BINARY, content_type)
    content = await tools.read("file_read", key="a.bin")
    assert (content["encoding"], base64.b64decode(content["content"]), content["size_bytes"]) == ("base64", BINARY, 256)


async def test_a_long_binary_file_is_described_and_not_cut(tools: Desktop) -> None:
    await tools.put("a.bin", BINARY * 100, "application/pdf")
    content = await tools.read("file_read", key="a.bin")
    assert (content["content"], content["encoding"], content["size_bytes"]) == ("", "base64", 25_600)
    assert "only files of at most 22,500 bytes" in content["note"]


async def test_a_long_text_is_read_part_by_part_to_its_end(tools: Desktop) -> None:
    text = "".join(f"Zeile {number}: Grüße aus 東京 🗼\n" for number in range(3_000))
    await tools.put("long.txt", text)
    read, offset = "", 0
    while offset is not None:
        content = await tools.read("file_read", key="long.txt", offset=offset)
        offset = content.get("next_offset")
        part, marker, how = content["content"].partition("\n... (truncated)")
        assert bool(marker) is (offset is not None)
        if offset is not None:
            assert how == f' To read on: file_read {{"key": "long.txt", "offset": {offset}}}'
            assert len(part) == TEXT_CHARACTERS_MAX
        read += part
    assert read == text


@given(st.text(max_size=400), st.integers(0, 40), st.integers(1, 60))
def test_a_part_that_begins_or_ends_in_a_character_loses_none(text: str, offset: int, size: int) -> None:
    encoded = text.encode()
    part_text = show_text(encoded[offset : offset + size], offset, len(encoded))
    assert part_text is not None
    begin = offset
    while offset and begin < len(encoded) and encoded[begin] & 0xC0 == 0x80:
        begin += 1
    assert part_text.text.encode() == encoded[begin : part_text.next_offset]
    assert part_text.is_all or part_text.next_offset > offset or size < 4


async def test_what_json_escapes_fits_too(tools: Desktop) -> None:
    await tools.put("quotes.txt", "\x01" * 40_000)
    answered = await tools.ask("file_read", key="quotes.txt")
    assert len(answered.content) < 50_000
    assert json.loads(answered.content)["next_offset"] == 7_499


@pytest.mark.parametrize("key", ["b.md", "../w/a.md", "workspaces/w/a.md", "%2e%2e/w/a.md", "..\\..\\w\\a.md"])
async def test_a_file_that_is_not_in_the_workspace_is_none(tools: Desktop, key: str) -> None:
    await tools.put("a.md", "secret")
    answered = await tools.ask("file_read", key=key, workspace="w2")
    assert answered.code == "not_found"
    assert answered.content.startswith('Error: no file at key "')
    assert answered.content.endswith('" in this workspace')


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"key": ".."}, "Error: key: must name a file"),
        ({"key": "a" * 600}, "Error: key: must be at most 512 bytes"),
        ({}, "Error: 'key' field required for file_read"),
        ({"key": "a.md", "offset": -1}, "Error: offset: must be a number of bytes"),
        ({"key": "a.md", "offset": "1"}, "Error: 'offset' for file_read must be an integer"),
    ],
)
async def test_an_argument_that_cannot_be_is_told_by_its_name(tools: Desktop, arguments: dict[str, object], says: str) -> None:
    answered = await tools.ask("file_read", **arguments)
    assert (answered.code, answered.content[: len(says)]) == ("invalid_arguments", says)


async def test_no_argument_names_another_workspace(tools: Desktop) -> None:
    await tools.put("a.md", "theirs", workspace="w2")
    answered = await tools.ask("file_read", key="a.md", workspace_id="w2", db="w2", user="w2")
    assert answered.code == "not_found"


async def test_the_file_of_the_example_is_told_as_it_says(tools: Desktop) -> None:
    await tools.put("uploads/trip-notes.md", "# Trip to Lisbon\n".ljust(4_521, "."), "text/markdown")
    read = await tools.read("file_read", key="uploads/trip-notes.md")
    assert (read["content_type"], read["encoding"], read["size_bytes"]) == ("text/markdown", "text", 4_521)
    assert read["content"].startswith("# Trip to Lisbon\n")
