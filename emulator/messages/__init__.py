"""A scripted Messages API: the anthropic SDK talks to it, and it plays what a script says."""

from emulator.messages.service import Messages

__all__ = ["Messages"]
