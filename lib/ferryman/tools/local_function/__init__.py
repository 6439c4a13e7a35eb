"""Local functions: tools that are functions of one process and send nothing anywhere; seed 002's executor runs them.

The executor is that seed's to the letter (`execute`, `run`), and knows nothing of tickets: its caller has claimed one.
"""
