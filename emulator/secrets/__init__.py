"""Secret Manager: google.cloud.secretmanager.v1 over gRPC, on SQLite."""

from emulator.secrets.service import SecretManagerEmulator

__all__ = ["SecretManagerEmulator"]
