"""The keys that requests to the platform are signed and verified with, for both of the functions that have them."""

from __future__ import annotations

from ferryman.gcp.request_keys import SecretManagerRequestKeys
from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.ports.platform import RequestKeys
from ferryman.settings import Settings
from ferryman.vault.request_keys import FixedRequestKeys


def build_request_keys(secrets: SecretManagerClient, settings: Settings) -> RequestKeys:
    """Return the keys: the environment's where it names one, else those of the secret."""
    if settings.platform_signing_key:
        return FixedRequestKeys(settings.platform_signing_key.encode())
    return SecretManagerRequestKeys(secrets, settings)
