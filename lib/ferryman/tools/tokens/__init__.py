"""Tokens: one OAuth token client; what declared tools fetch and keep with it, and what consents and renewals do with it."""

from ferryman.tools.tokens.access import Access, obtain_access, send_with_token
from ferryman.tools.tokens.client import TOKEN
from ferryman.tools.tokens.dependencies import TokenDependencies, TokenNeed

__all__ = ["TOKEN", "Access", "TokenDependencies", "TokenNeed", "obtain_access", "send_with_token"]
