"""The loop: model, turn, calls, and again, until there is an answer or a limit.

Everything it knows it can rebuild from the journal (step 0, steps, tickets), so any delivery can go on where another stopped.
A turn is one commit; what the model said enters it only after a key holder has looked through it.
"""
