"""The api's secret in Secret Manager: decisions of people are signed with what is derived from it, and it opens nothing."""

from __future__ import annotations

from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.gcp.secrets import SecretManagerVersions
from ferryman.settings import Settings


class SecretManagerDecisionKeys(SecretManagerVersions):
    """`ports.PrivateKeys` of the api's key."""

    def __init__(self, clients: SecretManagerClient, settings: Settings) -> None:
        super().__init__(clients, settings, settings.api_key_secret)
