"""The receipt keys in Secret Manager: they sign receipts, and open nothing."""

from __future__ import annotations

from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.gcp.secrets import SecretManagerVersions
from ferryman.settings import Settings


class SecretManagerReceiptKeys(SecretManagerVersions):
    """`ports.PrivateKeys` of the receipt key."""

    def __init__(self, clients: SecretManagerClient, settings: Settings) -> None:
        super().__init__(clients, settings, settings.receipt_key_secret)
