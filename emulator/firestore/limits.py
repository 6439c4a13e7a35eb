"""Limits: what production refuses for its size."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The quotas a caller can run into; a test may raise them."""

    document_bytes: int = 1_048_576
    transforms_per_document: int = 500
    request_bytes: int = 10_485_760


PRODUCTION = Limits()

NONE = Limits(document_bytes=64 << 20, transforms_per_document=1_000_000, request_bytes=64 << 20)
"""No limit but what the wire takes."""

MAP_DEPTH = 20
RESOURCE_ID_BYTES = 1_500
IN_VALUES = 30
NOT_IN_VALUES = 10
DISJUNCTIONS = 30
AGGREGATIONS = 5
PAGE_SIZE = 300
READ_TIME_MICROS = 3_600_000_000
"""How far back a read_time may lie, in microseconds: one hour."""

SERVER_OPTIONS = (
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", 64 << 20),
)
"""Options for the server this is served from: gRPC's own 4 MiB would refuse requests that Firestore takes."""
