"""Objects: Cloud Storage's JSON API, its signed URLs and S3's REST API, over HTTP, on SQLite."""

from emulator.objects.service import ObjectStoreEmulator

__all__ = ["ObjectStoreEmulator"]
