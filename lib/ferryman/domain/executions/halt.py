"""Halts: what a kill switch, or a task that is there no more, says to whom it stops."""

BY_OPERATOR = "stopped by the operator's kill switch"
BY_OWNER = "stopped by its owner's kill switch"
DISABLED = "the task was disabled or deleted"
