"""Executions that are killed, delayed, delivered twice and misled at every call of every port."""
