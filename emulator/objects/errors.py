"""Errors: what the services answer, with the reason of the JSON API and the code of the XML one."""

from __future__ import annotations

from collections.abc import Mapping


class StorageError(Exception):
    """A request that is not done. `reason` is for JSON, `code` for XML; the message says what to change."""

    def __init__(self, status: int, reason: str, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.headers = headers
        self.status = status
        self.reason = reason
        self.code = code


def invalid(message: str) -> StorageError:
    """Return the error for a request that means nothing."""
    return StorageError(400, "invalid", "InvalidArgument", message)


def unsupported(what: str) -> StorageError:
    """Return the error for what production can do and the local cloud cannot: better refused than done otherwise."""
    return StorageError(501, "notImplemented", "NotImplemented", f"{what} is not supported here.")


def missing_object(bucket: str, name: str) -> StorageError:
    return StorageError(404, "notFound", "NoSuchKey", f"No such object: {bucket}/{name}")


def missing_bucket() -> StorageError:
    return StorageError(404, "notFound", "NoSuchBucket", "The specified bucket does not exist.")


def missing_upload() -> StorageError:
    return StorageError(404, "notFound", "NoSuchUpload", "There is no such upload: it ended, or was cancelled.")


def failed_condition() -> StorageError:
    message = "At least one of the pre-conditions you specified did not hold."
    return StorageError(412, "conditionNotMet", "PreconditionFailed", message)


def not_modified() -> StorageError:
    return StorageError(304, "notModified", "NotModified", "The object is the one that the caller has.")


def denied(permission: str, bucket: str) -> StorageError:
    message = f"Permission '{permission}' denied on resource '{bucket}' (or it may not exist)."
    return StorageError(403, "forbidden", "AccessDenied", message)


def unauthenticated(message: str = "The request does not bear the token of this local cloud.") -> StorageError:
    return StorageError(401, "authError", "AccessDenied", message, {"www-authenticate": "Bearer"})


def wrong_digest(kind: str) -> StorageError:
    return StorageError(400, "invalid", "BadDigest", f"The {kind} that was sent is not that of the content.")


def wrong_range(size: int) -> StorageError:
    message = f"The requested range cannot be satisfied: the object has {size} bytes."
    size_told = {"content-range": f"bytes */{size}"}
    return StorageError(416, "requestedRangeNotSatisfiable", "InvalidRange", message, size_told)
