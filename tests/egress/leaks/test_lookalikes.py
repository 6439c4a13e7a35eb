"""Look-alikes: the ASCII character, or the shape, that a character is read as. The tables are built again for each test."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from types import ModuleType

import pytest

from ferryman.framing import escapes, marks


def load_again(module: ModuleType) -> ModuleType:
    """Return the module of that name loaded a second time: its tables are built while it is."""
    spec = module.__spec__
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    return again


@pytest.fixture
def plain() -> Mapping[int, str | None]:
    return load_again(escapes).PLAIN


@pytest.fixture
def shapes() -> Mapping[int, str]:
    return load_again(marks).SHAPES


def span(first: int, characters: str) -> dict[int, str]:
    """Return `characters` by the codes from `first` on."""
    return dict(enumerate(characters, start=first))


CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
READ = {
    "letters in circles": span(0x1F150, CAPITALS),
    "letters in squares": span(0x1F170, CAPITALS),
    "letters of flags": span(0x1F1E6, CAPITALS),
    "tags": span(0xE0020, "".join(map(chr, range(0x20, 0x7F)))),
    "variation selectors": span(0xFE00, "".join(map(chr, range(16)))),
    "more variation selectors": span(0xE0100, "".join(map(chr, range(16, 256)))),
    "Arabic digits": span(0x0660, "0123456789"),
    "Adlam digits": span(0x1E950, "0123456789"),
    "segmented digits": span(0x1FBF0, "0123456789"),
    "digits in circles": {0x24FF: "0", **span(0x2776, "123456789")},
    "Cyrillic": {0x430: "a", 0x410: "A"},
}
INVISIBLE = (
    *(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF),
    *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFB50, 0xFDFF),
)
OTHERS = (
    *(0x41, 0x2010, 0x200A, 0x202F, 0x205F, 0x2070, 0xFB4F, 0xFE10),
    *(0xE001F, 0xE007F, 0xE00FF, 0xE01F0, 0x1F16A, 0x1F14F, 0x277F),
)


@pytest.mark.parametrize("kind", READ)
def test_a_look_alike_is_read_as_its_character(kind: str, plain: Mapping[int, str | None]) -> None:
    assert {code: plain.get(code) for code in READ[kind]} == READ[kind]


def test_what_is_invisible_is_read_as_nothing_and_what_is_neither_stays(plain: Mapping[int, str | None]) -> None:
    assert {code: plain.get(code, "") for code in INVISIBLE} == dict.fromkeys(INVISIBLE)
    assert [hex(code) for code in OTHERS if code in plain] == []


@pytest.mark.parametrize(("like", "shape"), list(zip("ÀéгпцаАᎠꭰᏴᏢ٠٩∶꞉⟨⟩≺≻", "AernuaADDBP09::<><>", strict=True)))
def test_a_character_has_the_shape_that_a_reader_sees(like: str, shape: str, shapes: Mapping[int, str]) -> None:
    assert shapes[ord(like)] == shape


@pytest.mark.parametrize("other", "aZ0~жάĳ\U000e0041")
def test_ascii_and_what_resembles_nothing_have_their_own_shape(other: str, shapes: Mapping[int, str]) -> None:
    assert ord(other) not in shapes
