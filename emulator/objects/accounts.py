"""Accounts: the keys that sign URLs, one for each service account, as Google keeps them for `signBlob`."""

from __future__ import annotations

import asyncio
import sqlite3

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

BITS = 2_048


class AccountKeys:
    """RSA keys by the account's address, generated when one is first signed with."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    async def sign(self, email: str, payload: bytes) -> bytes:
        """Return the signature of an account (PKCS #1 v1.5, SHA-256)."""
        key = self._find(email)
        if key is None:
            generated = await asyncio.to_thread(rsa.generate_private_key, 65_537, BITS)
            self._store(email, generated)
            key = self._find(email)  # of those who make it at once, one has its own stored
            assert key is not None
        return key.sign(payload, padding.PKCS1v15(), hashes.SHA256())

    def verify(self, email: str, payload: bytes, signature: bytes) -> bool:
        """Return whether an account has signed this."""
        key = self._find(email)
        if key is None:
            return False
        try:
            key.public_key().verify(signature, payload, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return False
        return True

    def _find(self, email: str) -> rsa.RSAPrivateKey | None:
        row = self._db.execute("select pem from account_keys where email = ?", (email,)).fetchone()
        if row is None:
            return None
        key = serialization.load_pem_private_key(row[0], None, unsafe_skip_rsa_key_validation=True)  # our own
        assert isinstance(key, rsa.RSAPrivateKey)
        return key

    def _store(self, email: str, key: rsa.RSAPrivateKey) -> None:
        kind = serialization.PrivateFormat.PKCS8
        pem = key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption())
        self._db.execute("insert or ignore into account_keys values (?, ?)", (email, pem))
