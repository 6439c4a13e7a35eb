"""Secret Manager: google.cloud.secretmanager.v1 over gRPC, on SQLite."""

from emulator.secrets.service import SecretManager

__all__ = ["SecretManager"]
