"""Tokens: the short-lived ones that a declared tool's auth asks for, fetched, kept, put into its requests, fetched anew."""

from ferryman.tools.tokens.apply import TOKEN, applied
from ferryman.tools.tokens.house import Access, Need, TokenHouse, access, sent

__all__ = ["TOKEN", "Access", "Need", "TokenHouse", "access", "applied", "sent"]
