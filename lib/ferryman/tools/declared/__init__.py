"""Custom tools: those that a task's owner declares or imports, and the three by which the agent handles them itself.

One function carries the calls of them all: what they are is data, read when they are called. A declaration that was changed
after the execution began is another tool; only what the agent imports itself, through call_custom_tool, may be new.
"""
