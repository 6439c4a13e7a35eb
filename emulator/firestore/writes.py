"""Writes: one Write applied to the document it names."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .errors import already_exists, failed_precondition, invalid, not_found
from .fields import NAME, get, parse, put, remove
from .limits import Limits
from .transforms import transform
from .values import check_fields, check_size
from .wire import Document, Precondition, Write, WriteResult, micros, stamp


def find_target(write: Write) -> str:
    """Return the name of the document a write is about."""
    match write.WhichOneof("operation"):
        case "update":
            return str(write.update.name)
        case "delete":
            return str(write.delete)
        case "transform":
            return str(write.transform.document)
    raise invalid("A write has no operation.")


def steps(write: Write) -> Any:
    return write.update_transforms if write.HasField("update") else write.transform.field_transforms


def check_transforms(writes: Iterable[Write], most: int) -> None:
    """Refuse more than `most` field transforms on one document."""
    counts: Counter[str] = Counter()
    for write in writes:
        counts[find_target(write)] += len(steps(write))
    for name, count in counts.items():
        if count > most:
            raise invalid(f"At most {most} field transforms are allowed on a document in a commit: {name}.")


def check_precondition(current: Document | None, condition: Precondition, name: str, now: int) -> None:
    match condition.WhichOneof("condition_type"):
        case "exists" if condition.exists and current is None:
            raise not_found(f"No document to update: {name}")
        case "exists" if not condition.exists and current is not None:
            raise already_exists(f"Document already exists: {name}")
        case "update_time":
            required = micros(condition.update_time)
            if required > now:
                raise invalid("The update_time of a precondition lies in the future.")
            if required != (stored := 0 if current is None else micros(current.update_time)) or current is None:
                raise failed_precondition(
                    f"The stored version ({stored}) does not match the required base version ({required})."
                )


def apply(write: Write, current: Document | None, at: int, limits: Limits) -> tuple[Document | None, WriteResult]:
    """Return the document after a write at a moment (micros), and the write's result.

    A write that changes nothing gives `current` itself. Raise NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION,
    INVALID_ARGUMENT.
    """
    name, result = find_target(write), WriteResult()
    if write.HasField("current_document"):
        check_precondition(current, write.current_document, name, at)
    if write.HasField("delete"):
        return None, result
    new = merge_fields(write, current) if write.HasField("update") else copy(current)
    for step in steps(write):
        result.transform_results.append(transform(new, step, at))
    if current is not None and current.fields == new.fields:
        result.update_time.CopyFrom(current.update_time)
        return current, result
    new.name = name
    check_size(new, limits.document_bytes)
    stamp(new.update_time, at)
    if current is None:
        stamp(new.create_time, at)
    else:
        new.create_time.CopyFrom(current.create_time)
    result.update_time.CopyFrom(new.update_time)
    return new, result


def copy(document: Document | None) -> Document:
    new = Document()
    if document is not None:
        new.CopyFrom(document)
    return new


def merge_fields(write: Write, current: Document | None) -> Document:
    """Return the fields of an update: all of them, or with a mask only those it names, absent ones being removed."""
    check_fields(write.update.fields)
    if not write.HasField("update_mask"):
        return copy(write.update)
    new = copy(current)
    for text in write.update_mask.field_paths:
        if text == NAME:
            raise invalid("A document's name cannot be part of an update mask.")
        path = parse(text)
        value = get(write.update.fields, path)
        if value is None:
            remove(new.fields, path)
        else:
            put(new.fields, path, value)
    return new
