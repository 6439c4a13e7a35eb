"""The agent loop: ask the model, execute its calls, and repeat, until there is an answer or a limit is reached.

All of its state can be rebuilt from the write-ahead journal (step 0, steps, tickets), so any delivery can resume where another
stopped. A turn is one commit; the model's output is redacted by a key holder before it is stored.
"""
