"""Windows of a long text: nothing is lost between them, and a credential across two is found."""

from __future__ import annotations

from base64 import b64encode

from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.egress.checks import scan_output
from ferryman.framing.windows import CHARACTERS_READ, OVERLAP, scan_windows
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
    clean = await scan_windows(await redact(text[:CHARACTERS_READ]), text[CHARACTERS_READ:], redact)
    assert clean == text.replace(ENCODED, "[redacted:KEY]")


async def test_a_text_without_a_rest_is_not_scanned_again() -> None:
    assert await scan_windows("scanned", "", redact) == "scanned"


async def test_a_window_has_no_more_than_is_decoded_at_once() -> None:
    text = "a" * CHARACTERS_READ
    assert await scan_windows(text, "b" * RESULT_CHARACTERS_MAX * 3, redact) == text + "b" * RESULT_CHARACTERS_MAX * 3


async def test_an_encoded_credential_far_behind_what_is_decoded_at_once_is_found() -> None:
    secret = "Zq8kP2vN5xW9rT4mLb7c"
    credential = Credential(label=build_label(name="KEY"), secret=Secret(secret))

    async def scan(window: str) -> str:
        (block,) = scan_output([credential], [{"type": "text", "text": window}])
        return str(block["text"])

    encoded = b64encode(b64encode(secret.encode())).decode()
    text = "a word " * 40_000 + encoded + " a word" * 1_000
    clean = await scan_windows(await scan(text[:CHARACTERS_READ]), text[CHARACTERS_READ:], scan)
    assert clean == text.replace(encoded, "[redacted:KEY]")
