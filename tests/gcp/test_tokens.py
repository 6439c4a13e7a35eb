"""Tokens' documents: Firestore may take one away when nothing in it is of use any more, nor known any more to be redacted."""

from __future__ import annotations

from datetime import timedelta

from ferryman.domain.credentials.token import KNOWN, Fetch, Token, TokenSlot
from ferryman.gcp.tokens import to_document
from ferryman.inmemory.clock import START

SOON, LATE = START + timedelta(seconds=15), START + timedelta(hours=1)


def test_a_document_expires_when_its_token_and_its_fetch_have() -> None:
    token, fetch = Token(fetch="f", ciphertext=b"c", expires_at=LATE), Fetch(name="g", until=SOON)
    assert to_document(TokenSlot(owner="o", token=token))["expire_at"] == LATE + KNOWN
    assert to_document(TokenSlot(owner="o", fetch=fetch))["expire_at"] == SOON
    assert to_document(TokenSlot(owner="o", token=token, fetch=fetch))["expire_at"] == LATE + KNOWN
    assert to_document(TokenSlot(owner="o", former=(token,), fetch=fetch))["expire_at"] == LATE + KNOWN
    assert to_document(TokenSlot(owner="o"))["expire_at"] < START
