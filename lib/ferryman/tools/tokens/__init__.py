"""Tokens: the short-lived ones that a declared tool's auth asks for, fetched, kept, put into its requests, fetched anew."""

from ferryman.tools.tokens.apply import TOKEN, applied
from ferryman.tools.tokens.calls import Access, access, sent
from ferryman.tools.tokens.house import Need, TokenHouse

__all__ = ["TOKEN", "Access", "Need", "TokenHouse", "access", "applied", "sent"]
