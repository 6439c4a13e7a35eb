"""Calls of functions without keys, whatever their kind: claimed, scanned, framed and settled by the process that asks for them.

`calling` is the one path, `hook` what a kind of tool adds to it.
"""
