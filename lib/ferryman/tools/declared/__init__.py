"""Custom tools: those that a task's owner declares or imports, and the three by which the agent manages them itself.

One function executes the calls of them all: they are data, read when they are called. A declaration that was changed after the
execution began is another tool; only what the agent imports itself, through call_custom_tool, may be new.
"""
