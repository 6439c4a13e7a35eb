"""Verifying decisions: by published keys, each under its version, and nothing else."""

from __future__ import annotations

import pytest

from ferryman.vault.decisions import PublishedKeys
from ferryman.vault.sign import SigningKey

KEY, OTHER = SigningKey(1, b"a" * 32), SigningKey(2, b"b" * 32)
MESSAGE = b"ferryman/decision/1\n{}"
PUBLISHED = PublishedKeys({1: KEY.public, 2: OTHER.public})


def test_a_signature_verifies_under_its_version() -> None:
    assert PUBLISHED.verify(MESSAGE, key=1, signature=KEY.sign(MESSAGE).hex())
    assert PUBLISHED.verify(MESSAGE, key=2, signature=OTHER.sign(MESSAGE).hex())


@pytest.mark.parametrize("version", [0, 2, 3, -1])
def test_it_verifies_under_no_other_version(version: int) -> None:
    assert not PUBLISHED.verify(MESSAGE, key=version, signature=KEY.sign(MESSAGE).hex())


@pytest.mark.parametrize("signature", ["", "zz", "00" * 64, "ff" * 63, "é", None, 5])
def test_what_is_no_signature_verifies_nothing(signature: str) -> None:
    assert not PUBLISHED.verify(MESSAGE, key=1, signature=signature)


def test_another_message_does_not_verify() -> None:
    assert not PUBLISHED.verify(MESSAGE + b" ", key=1, signature=KEY.sign(MESSAGE).hex())


def test_without_published_keys_nothing_verifies() -> None:
    assert not PublishedKeys({}).verify(MESSAGE, key=1, signature=KEY.sign(MESSAGE).hex())
