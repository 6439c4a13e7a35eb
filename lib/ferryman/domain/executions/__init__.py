"""Executions: one run of a task, its lease, its policy, its messages."""
