"""The ports in memory, for tests and for embedding: real code with the same rules as on Google Cloud, and nothing that lasts.

No method awaits anything halfway, so each is as atomic as a transaction.
"""
