"""The message types of google.firestore.v1, as the client's own wheel ships them, and the way from timestamps to micros."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class Message:
        """A protobuf message as the type checker sees it: its fields are known at run time only."""

        def __init__(self, **fields: Any) -> None: ...
        def __getattr__(self, field: str) -> Any: ...
        def __setattr__(self, field: str, value: Any) -> None: ...
        @staticmethod
        def FromString(wire: bytes) -> Any: ...  # noqa: N802 - protobuf names it

    class Document(Message): ...

    class Value(Message): ...

    class Write(Message): ...

    class WriteResult(Message): ...

    class Precondition(Message): ...

    class StructuredQuery(Message):
        CompositeFilter: Any
        Direction: Any
        FieldFilter: Any
        FindNearest: Any
        UnaryFilter: Any

    class TargetChange(Message):
        TargetChangeType: Any
else:
    from google.cloud.firestore_v1.types import common, document, firestore, query, write

    Document = document.Document.pb()
    Value = document.Value.pb()
    Write = write.Write.pb()
    WriteResult = write.WriteResult.pb()
    Precondition = common.Precondition.pb()
    StructuredQuery = query.StructuredQuery.pb()
    TargetChange = firestore.TargetChange.pb()

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def message(name: str) -> Any:
    """Return the class of a request or response by its name in the service, as "CommitRequest"."""
    from google.cloud.firestore_v1.types import firestore

    return getattr(firestore, name).pb()


def stamp(timestamp: Any, micros: int) -> None:
    """Set a protobuf Timestamp to microseconds since 1970."""
    timestamp.seconds, rest = divmod(micros, 1_000_000)
    timestamp.nanos = rest * 1000


def micros(timestamp: Any) -> int:
    """Return the microseconds since 1970 of a protobuf Timestamp; nanoseconds are cut, as Firestore does."""
    return int(timestamp.seconds * 1_000_000 + timestamp.nanos // 1000)


def micros_of(moment: datetime) -> int:
    """Return the microseconds since 1970 of an aware datetime."""
    return (moment - EPOCH) // MICROSECOND


def moment_of(at: int) -> datetime:
    """Return the aware datetime of microseconds since 1970."""
    return EPOCH + at * MICROSECOND
