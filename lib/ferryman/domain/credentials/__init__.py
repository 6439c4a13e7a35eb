"""Credentials: sealed values, their former values, integrations, consent, fetched tokens, keys."""
