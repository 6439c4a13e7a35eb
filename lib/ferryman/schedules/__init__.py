"""Schedules: run tasks at their times; every time starts exactly one execution, and none is lost."""
