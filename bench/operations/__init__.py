"""What executions ask of the cloud that is billed, counted on the local one: by call, by turn, at their ends and at rest."""

from bench.operations.parts import Measured, Part, measure

__all__ = ["Measured", "Part", "measure"]
