"""Ferryman executes agent tasks: it checks every call, opens keys only where calls are sent, and records each of them.

Imports only go down: functions, cli, serving; stack, replay, operations; composition; then tools, loop, schedules, egress,
vault, models, billing, gcp, inmemory, telemetry, which do not know each other and meet in composition, through ports; then
ports and catalog; then domain and settings. import-linter holds it (pyproject.toml).
"""
