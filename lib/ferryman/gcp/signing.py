"""The receipt keys in Secret Manager: what receipts are signed with. They open nothing."""

from __future__ import annotations

from ferryman.gcp.secret_manager import SecretManager
from ferryman.gcp.secrets import Versions
from ferryman.settings import Settings


class ReceiptKeys(Versions):
    """`ports.Keys` of the receipt key."""

    def __init__(self, clients: SecretManager, settings: Settings) -> None:
        super().__init__(clients, settings, settings.receipt_key_secret)
