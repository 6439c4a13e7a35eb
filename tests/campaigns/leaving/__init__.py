"""Answers whose watchers leave, whose processes die, and which are stopped: on a stack that freezes whatever nobody asks."""
