"""What executions cost in operations that a cloud bills, counted on the local one: by call, by turn, at their ends and at rest."""

from bench.operations.parts import Measured, Part, measure

__all__ = ["Measured", "Part", "measure"]
