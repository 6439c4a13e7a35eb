"""Schedules: tasks run by themselves; each time makes one execution, and none is lost."""
