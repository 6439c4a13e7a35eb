"""Whom the client trusts: certifi's authorities, whatever the environment says, read once."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from ferryman.client import AsyncClient, Client, trust


def test_a_server_has_to_prove_its_name() -> None:
    context = trust.create_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "empty.pem"))
    assert trust.create_context.__wrapped__().cert_store_stats() == trust.create_context().cert_store_stats()
    assert trust.create_context().cert_store_stats()["x509_ca"] > 0


async def test_authorities_are_read_once_for_all_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    trust.create_context()

    def read(*_: object, **__: object) -> None:
        raise AssertionError("authorities are read again")

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", read)
    Client("https://api.test", "key").close()
    await AsyncClient("https://api.test", "key").close()
