"""Halts: the reasons why an execution is stopped by a kill switch or by the end of its task."""

BY_OPERATOR = "stopped by the operator's kill switch"
BY_OWNER = "stopped by its owner's kill switch"
DISABLED = "the task was disabled or deleted"
