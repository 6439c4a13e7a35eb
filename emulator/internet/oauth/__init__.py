"""An OAuth server as a host of the pretend internet: consent, tokens, a login that is no OAuth, and something to protect."""

from emulator.internet.oauth.rules import Rules, read_rules
from emulator.internet.oauth.server import Server

__all__ = ["Rules", "Server", "read_rules"]
