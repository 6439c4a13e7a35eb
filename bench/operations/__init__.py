"""What executions ask of the cloud that is billed, counted on the local one: by call, turn, start, end, and while waiting."""

from bench.operations.parts import Part, PartCounts, measure
from bench.operations.promised import rows

__all__ = ["Part", "PartCounts", "measure", "rows"]
