"""Tokens: one OAuth token client, for the tokens of declared tools, for consents and for renewals."""
