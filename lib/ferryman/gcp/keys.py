"""The sealing keys in Secret Manager: what was sealed says which version opens it."""

from __future__ import annotations

from ferryman.gcp.secret_manager import SecretManager
from ferryman.gcp.secrets import Versions
from ferryman.settings import Settings


class SecretManagerKeys(Versions):
    """`ports.Keys` of the unsealing key."""

    def __init__(self, clients: SecretManager, settings: Settings) -> None:
        super().__init__(clients, settings, settings.sealing_key_secret)
