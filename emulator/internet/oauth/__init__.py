"""An OAuth server as a host of the simulated internet: consent, tokens, a login that is no OAuth, and something to protect."""

from emulator.internet.oauth.rules import Rules, read_rules
from emulator.internet.oauth.server import OAuthServer

__all__ = ["OAuthServer", "Rules", "read_rules"]
