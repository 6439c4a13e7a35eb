"""Local functions: tools that run as Python functions and send nothing anywhere (S2-24 … S2-52).

`execute` and `run` do what these lines specify. They know nothing of tickets: `tools/keyless` claims and settles them.
"""
