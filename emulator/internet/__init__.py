"""The pretend internet: public names with real TLS on loopback ports, canned answers, and a record of what was asked."""

from emulator.internet.internet import Internet

__all__ = ["Internet"]
