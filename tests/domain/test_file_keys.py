"""Keys of files: cleaned, and never out of the workspace's prefix."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ferryman.domain.files.keys import (
    KEY_MAX_BYTES,
    TEXT_MAX,
    build_object_key,
    build_prefix,
    clean_key,
    clean_prefix,
    strip_prefix,
)
from ferryman.domain.files.object import check_key
from ferryman.domain.problem import InvalidInputError

MEANT = {
    "uploads/trip.md": "uploads/trip.md",
    "/etc/passwd": "etc/passwd",
    "../../other/secret.md": "other/secret.md",
    "a/../../b": "a/b",
    "..\\..\\windows\\system32": "windows/system32",
    "C:\\a": "C:/a",
    "a//b///c/": "a/b/c",
    "./a/./b": "a/b",
    "a/.../b": "a/b",
    ".env": ".env",
    "a..b/c..": "a..b/c..",
    " a / b ": "a/b",
    "a/ .. /b": "a/b",
    "a/.\u200b./b": "a/b",
    "a/.\x00./b": "a/b",
    "a/\u2025/b": "a/\u2025/b",
    "%2e%2e/a": "%2e%2e/a",
    "a\r\nb": "ab",
    "re\u202egnp.exe": "regnp.exe",
    "Zu\u0308rich.md": "Zürich.md",
    "\ufeffa\u2028b": "ab",
    "e\u200b\u0301": "é",
    "a\ud800b": "ab",
    "a\ufffe\ufdd0b": "ab",
    "\uff0e\uff0e/a": "\uff0e\uff0e/a",
    "workspaces/other/a": "workspaces/other/a",
}
NOTHING = ["", " ", "/", "..", "../..", "./.", "...", "\\", "\x00", "\u200b/\u200b", "\n/\r", "\ud800"]
PATHS = ["..", ".", "/", "\\", "a", "%2e", "~", " ", "\u3000", "\x00", "\u202e", "\u200b"]
COMPOSED = ["é", "e\u0301", "\u0338", "\u1100", "\u1161"]
PIECES = st.sampled_from([*PATHS, *COMPOSED])
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map("".join))
WORKSPACES = st.from_regex("[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True)


def clean(text: str) -> str | None:
    """Return the key, None for a text that is refused."""
    try:
        return clean_key(text)
    except InvalidInputError:
        return None


@pytest.mark.parametrize(("text", "key"), MEANT.items())
def test_a_text_means_a_key(text: str, key: str) -> None:
    assert clean_key(text) == key


@pytest.mark.parametrize("text", NOTHING)
def test_a_text_of_which_nothing_is_left_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"key: must name a file, as in notes/trip\.md"):
        clean_key(text)


@pytest.mark.parametrize("text", ["x" * 513, "ü" * 257, "a/" * 256 + "b", "x" * (TEXT_MAX + 1)])
def test_a_key_beyond_its_bound_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="key: must be at most 512 bytes"):
        clean_key(text)


def test_a_key_of_the_bound_is_one() -> None:
    assert clean_key("ü" * 256) == "ü" * 256


@given(text=TEXTS, workspace=WORKSPACES)
@example(text="../" * 100 + "a", workspace="w")
def test_a_key_never_leaves_the_prefix_of_its_workspace(text: str, workspace: str) -> None:
    if clean(text) is None:
        return
    object_key = build_object_key(workspace, text)
    prefix = f"workspaces/{workspace}/"
    assert object_key.startswith(prefix)
    parts = object_key.split("/")
    assert parts[:2] == ["workspaces", workspace]
    assert not {"", ".", ".."} & set(parts)
    assert "\\" not in object_key
    assert strip_prefix(workspace, object_key) == clean(text)
    check_key(object_key)  # what every bucket takes as it is


@given(TEXTS)
def test_to_clean_a_key_again_changes_nothing(text: str) -> None:
    key = clean(text)
    assert key is None or clean_key(key) == key


@given(TEXTS)
def test_a_key_is_short_and_in_nfc_and_has_no_control_characters(text: str) -> None:
    key = clean(text) or "-"
    assert len(key.encode()) <= KEY_MAX_BYTES
    assert unicodedata.is_normalized("NFC", key)
    assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & set(map(unicodedata.category, key))


@given(text=TEXTS, first=WORKSPACES, other=WORKSPACES)
def test_no_key_of_a_workspace_is_one_of_another(text: str, first: str, other: str) -> None:
    if first == other or clean(text) is None:
        return
    assert not build_object_key(first, text).startswith(build_prefix(other))
    with pytest.raises(ValueError, match="none of the workspace's"):
        strip_prefix(other, build_object_key(first, text))


@pytest.mark.parametrize("workspace", ["", ".", "..", "a/b", "a\\b", "-a", "a" * 65, "ü", "a\n"])
def test_a_workspace_has_an_id(workspace: str) -> None:
    with pytest.raises(ValueError, match="a workspace has an id"):
        build_prefix(workspace)


@pytest.mark.parametrize(
    ("text", "prefix"),
    [("", ""), ("/", ""), ("..", ""), ("notes", "notes"), ("notes/", "notes/"), ("/notes\\", "notes/"), ("../a/./", "a/")],
)
def test_a_prefix_keeps_the_slash_at_its_end(text: str, prefix: str) -> None:
    assert clean_prefix(text) == prefix


@given(TEXTS)
def test_a_prefix_is_within_the_bounds_of_keys(text: str) -> None:
    try:
        prefix = clean_prefix(text)
    except InvalidInputError:
        return
    assert prefix == clean_prefix(prefix)
    assert len(prefix.encode()) <= KEY_MAX_BYTES
    assert not {"", ".", ".."} & set(prefix.removesuffix("/").split("/")) - {prefix}
