"""Windows of a long text: nothing is lost between them, and a credential across two is found."""

from __future__ import annotations

from base64 import b32encode, b64encode
from zlib import compress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.egress.checks import scan_output
from ferryman.framing.windows import CHARACTERS_READ, OVERLAP, NotDividedError, scan_windows
from tests.builders import build_label

ENCODED = "K" * OVERLAP
"""A credential as long as windows overlap."""


async def redact(text: str) -> str:
    assert len(text) <= CHARACTERS_READ
    return text.replace(ENCODED, "[redacted:KEY]")


@given(length=st.integers(CHARACTERS_READ, 4 * CHARACTERS_READ), place=st.integers(0, 4 * CHARACTERS_READ))
async def test_a_credential_is_found_wherever_it_is(length: int, place: int) -> None:
    place = min(place, length - OVERLAP)
    text = "a" * place + ENCODED + "b" * (length - OVERLAP - place)
    clean = await scan_windows(text, redact)
    assert clean == text.replace(ENCODED, "[redacted:KEY]")


async def test_a_window_has_no_more_than_is_decoded_at_once() -> None:
    text = "a" * CHARACTERS_READ + "b" * RESULT_CHARACTERS_MAX * 3
    assert await scan_windows(text, redact) == text


SECRET = "Zq8kP2vN5xW9rT4mLb7cH3sD6yFqJ0tG"


async def scan(window: str) -> str:
    """Scan as key holders do."""
    (block,) = scan_output(
        [Credential(label=build_label(name="KEY"), secret=Secret(SECRET))], [{"type": "text", "text": window}]
    )
    return str(block["text"])


async def test_an_encoded_credential_far_behind_what_is_decoded_at_once_is_found() -> None:
    encoded = b64encode(b64encode(SECRET.encode())).decode()
    text = "a word " * 40_000 + encoded + " a word" * 1_000
    assert await scan_windows(text, scan) == text.replace(encoded, "[redacted:KEY]")


@pytest.mark.parametrize("encoded", [b32encode(SECRET.encode()), b64encode(compress(SECRET.encode()))])
@pytest.mark.parametrize("edge", [CHARACTERS_READ, CHARACTERS_READ + RESULT_CHARACTERS_MAX])
async def test_of_a_credential_that_a_window_cuts_no_part_is_left(encoded: bytes, edge: int) -> None:
    spelled = f" {encoded.decode()} "
    text = ("a word " * edge)[: edge - len(spelled) // 2] + spelled + "a word " * 10_000
    assert await scan_windows(text, scan) == text.replace(spelled, await scan(spelled))


async def test_a_text_with_a_credential_in_each_line_is_divided_between_them() -> None:
    text = f"one more line of words that says nothing, key={SECRET} and more of it\n" * 1_500
    assert await scan_windows(text, scan) == text.replace(SECRET, "[redacted:KEY]")


async def test_where_a_credential_is_not_located_no_part_of_it_is_left() -> None:
    spelled = "".join(f"&#{ord(character)};" for character in SECRET)
    text = "a word " * 8_900 + spelled + " a word" * 10_000
    with pytest.raises(NotDividedError):
        await scan_windows(text, scan)


async def test_a_text_that_is_all_credentials_is_not_divided() -> None:
    with pytest.raises(NotDividedError):
        await scan_windows(SECRET * 4_000, scan)
