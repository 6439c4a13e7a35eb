"""Laundering: a stranger's text that reaches a hijacked model by every channel, in every spelling, and decides an effect.

Each scenario runs the loop, the real tool code and the real gate on stores in memory; nothing is dialled. It has failed where
the last call waits for a person, with an untrusted label; it has not taken place where the model never read the text.
"""
