"""Archives: what is written is read back, the same content has the same bytes, and every forged one is refused by name."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.archives.reading import iterate_files, read_archive
from ferryman.archives.writing import ArchiveWriter
from ferryman.domain.archives.lines import FILE_BYTES, ArchiveError, read_lines, write_line
from ferryman.domain.archives.manifest import MANIFEST, parse_manifest

from .forge import ABOUT, FORGED, LINES, WHOLE, unpack, write_whole

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_an_archive_is_read_as_it_was_written() -> None:
    assert [name for name, _ in iterate_files(io.BytesIO(WHOLE))] == [
        "workspace-000001.jsonl",
        "tasks-000001.jsonl",
        MANIFEST,
    ]
    manifest = read_archive(io.BytesIO(WHOLE))
    assert (manifest.workspace, manifest.name) == ("ws_1", "Kitchen")
    assert [(file.kind, file.lines) for file in manifest.files] == [("workspace", 1), ("tasks", 2)]


def test_python_s_own_reader_finds_the_same_files() -> None:
    assert dict(iterate_files(io.BytesIO(WHOLE))) == unpack(WHOLE)


def test_the_same_content_has_the_same_bytes() -> None:
    assert write_whole() == WHOLE
    assert write_whole(3) != WHOLE


def test_a_file_ends_with_the_line_by_which_it_is_large_enough() -> None:
    writer = ArchiveWriter()
    writer.add("workspace", lambda: [{"id": "ws_1"}])
    writer.add("tasks", lambda: [{"name": "a" * (FILE_BYTES // 4)} for _ in range(9)])
    writer.end(ABOUT)
    assert [(file.name, file.lines) for file in writer.files][1:] == [
        ("tasks-000001.jsonl", 4),
        ("tasks-000002.jsonl", 4),
        ("tasks-000003.jsonl", 1),
    ]


def test_an_earlier_kind_cannot_follow() -> None:
    writer = ArchiveWriter()
    writer.add("tasks", lambda: [{}])
    with pytest.raises(ValueError, match="agents comes before tasks"):
        writer.add("agents", lambda: [{}])


def test_the_manifest_is_read_as_it_was_written() -> None:
    manifest = read_archive(io.BytesIO(WHOLE))
    assert parse_manifest(manifest.to_json()) == manifest


def test_progress_counts_the_compressed_bytes() -> None:
    counted: list[int] = []
    read_archive(io.BytesIO(WHOLE), count=counted.append)
    assert counted[-1] == len(WHOLE)


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_archive_is_refused_and_the_entry_named(name: str) -> None:
    archive, words = FORGED[name]

    def read() -> None:
        read_archive(io.BytesIO(archive))
        for entry, data in iterate_files(io.BytesIO(archive)):
            if entry != MANIFEST:
                list(read_lines(entry, data))

    with pytest.raises(ArchiveError) as refused:
        read()
    assert words in str(refused.value)


@pytest.mark.parametrize("name", LINES)
def test_lines_that_are_not_as_they_must_be_are_refused_and_the_line_named(name: str) -> None:
    data, words = LINES[name]
    with pytest.raises(ArchiveError) as refused:
        list(read_lines("tasks-000001.jsonl", data))
    assert str(refused.value).startswith("tasks-000001.jsonl")
    assert words in str(refused.value)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_a_line_is_read_as_it_was_written(value: dict[str, object]) -> None:
    ((place, read),) = read_lines("tasks-000001.jsonl", write_line(value))
    assert place == "tasks-000001.jsonl line 1"
    assert write_line(read) == write_line(value)
