"""Windows of a long text: nothing is lost between them, and a credential across two is found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.tools.keyless.framing import CHARACTERS_READ
from ferryman.tools.keyless.windows import OVERLAP, scan_windows

ENCODED = "K" * OVERLAP
"""A credential as long as windows overlap."""


async def redact(text: str) -> str:
    assert len(text) <= CHARACTERS_READ
    return text.replace(ENCODED, "[redacted:KEY]")


@given(length=st.integers(CHARACTERS_READ, 4 * CHARACTERS_READ), place=st.integers(0, 4 * CHARACTERS_READ))
async def test_a_credential_is_found_wherever_it_is(length: int, place: int) -> None:
    place = min(place, length - OVERLAP)
    text = "a" * place + ENCODED + "b" * (length - OVERLAP - place)
    clean = await scan_windows(await redact(text[:CHARACTERS_READ]), text[CHARACTERS_READ:], redact)
    assert clean == text.replace(ENCODED, "[redacted:KEY]")


async def test_a_text_without_a_rest_is_not_scanned_again() -> None:
    assert await scan_windows("scanned", "", redact) == "scanned"


async def test_a_window_has_no_more_than_is_decoded_at_once() -> None:
    text = "a" * CHARACTERS_READ
    assert await scan_windows(text, "b" * RESULT_CHARACTERS_MAX * 3, redact) == text + "b" * RESULT_CHARACTERS_MAX * 3
