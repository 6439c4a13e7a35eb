"""Halts: what a kill switch says to whom it stops."""

BY_OPERATOR = "stopped by the operator's kill switch"
BY_OWNER = "stopped by its owner's kill switch"
