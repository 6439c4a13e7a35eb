"""The sealing keys in Secret Manager: a ciphertext names the version that opens it."""

from __future__ import annotations

from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.gcp.secrets import SecretManagerVersions
from ferryman.settings import Settings


class SecretManagerKeys(SecretManagerVersions):
    """`ports.PrivateKeys` of the unsealing key."""

    def __init__(self, clients: SecretManagerClient, settings: Settings) -> None:
        super().__init__(clients, settings, settings.sealing_key_secret)
