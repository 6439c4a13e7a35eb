"""Triggers: a change of a Firestore document, delivered to a function as Eventarc delivers it."""

from emulator.triggers.event import WatchedChange
from emulator.triggers.triggers import Triggers

__all__ = ["Triggers", "WatchedChange"]
