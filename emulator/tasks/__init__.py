"""Cloud Tasks: google.cloud.tasks.v2 over gRPC, on SQLite, delivering over HTTP."""

from emulator.tasks.service import CloudTasksEmulator

__all__ = ["CloudTasksEmulator"]
