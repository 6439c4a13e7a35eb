"""Notices: what a listening client is told, as the messages of a Listen stream."""

from typing import Any

from .errors import StatusError
from .history import Version
from .wire import TargetChange, message, micros, stamp

ListenResponse = message("ListenResponse")
TOKEN_BYTES = 8


def resume_point(target: Any) -> int | None:
    """Return the moment (micros) from which a target goes on; 0, which is never remembered, for a token that is not ours."""
    match target.WhichOneof("resume_type"):
        case "resume_token" if target.resume_token:
            token = target.resume_token
            return int.from_bytes(token, "big") if len(token) == TOKEN_BYTES else 0
        case "read_time":
            return micros(target.read_time)
    return None


def target_change(kind: str, *ids: int, at: int | None = None) -> Any:
    response = ListenResponse()
    response.target_change.target_change_type = TargetChange.TargetChangeType.Value(kind)
    response.target_change.target_ids.extend(ids)
    if at is not None:
        stamp(response.target_change.read_time, at)
        response.target_change.resume_token = at.to_bytes(TOKEN_BYTES, "big")
    return response


def removed(number: int, cause: StatusError | None = None) -> Any:
    response = target_change("REMOVE", number)
    if cause is not None:
        response.target_change.cause.code = cause.number
        response.target_change.cause.message = cause.text
    return response


def document_change(number: int, version: Version) -> Any:
    response = ListenResponse()
    response.document_change.document.CopyFrom(version.document)
    response.document_change.target_ids.append(number)
    return response


def document_gone(number: int, name: str, at: int, *, deleted: bool) -> Any:
    """Return the notice that a document has left a target: it is deleted, or no longer matches."""
    response = ListenResponse()
    notice = response.document_delete if deleted else response.document_remove
    notice.document = name
    notice.removed_target_ids.append(number)
    stamp(notice.read_time, at)
    return response
