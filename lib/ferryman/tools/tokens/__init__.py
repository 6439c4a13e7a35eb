"""Tokens: one OAuth token client, for the tokens of declared tools, for consents and for renewals."""

from ferryman.tools.tokens.access import Access, obtain_access, send_with_token
from ferryman.tools.tokens.client import TOKEN
from ferryman.tools.tokens.dependencies import TokenDependencies, TokenNeed

__all__ = ["TOKEN", "Access", "TokenDependencies", "TokenNeed", "obtain_access", "send_with_token"]
