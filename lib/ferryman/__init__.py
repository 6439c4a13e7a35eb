"""Ferryman carries an agent's calls across: checks each one, takes the key out only on the far bank, logs every crossing.

Imports only go down: functions, serving, wiring, then the rooms (tools, loop, egress, vault, models, billing, gcp, local),
then ports and catalog, then domain and settings. Rooms do not know each other; they meet in wiring, through ports.
"""
