"""The simulated internet: public names with real TLS on loopback ports, canned answers, and a record of requests."""

from emulator.internet.internet import Internet

__all__ = ["Internet"]
