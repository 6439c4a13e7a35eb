"""Arbitrary documents in the place of executions: whatever they say, they change nothing but themselves."""
