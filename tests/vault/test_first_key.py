"""The first API key: the same of the same token and secret, and another of any other."""

from __future__ import annotations

from ferryman.serving.keys import generate_token, parse_key, write_key
from ferryman.vault.first_key import derive_first_key

TOKEN, SECRET = "fi_" + "t" * 43, "s" * 43


def test_it_is_decided_by_token_and_secret_together() -> None:
    derived = derive_first_key(TOKEN, SECRET)
    assert derived == derive_first_key(TOKEN, SECRET)
    others = [derive_first_key(TOKEN, SECRET[1:] + "x"), derive_first_key(generate_token(), SECRET)]
    assert len({derived, *others}) == 3


def test_it_has_the_form_of_an_api_key() -> None:
    key = write_key(derive_first_key(TOKEN, SECRET))
    assert parse_key(f"Bearer {key}") == key
