"""The ports in memory, for tests and for embedding: real code with the same rules as on Google Cloud; nothing is persistent.

No method awaits anything before it has written, so each is as atomic as a transaction.
"""
