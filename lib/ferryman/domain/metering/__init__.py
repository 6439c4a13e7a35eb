"""Metering: what each turn and call used, and its sums by day, tool, model and agent."""
