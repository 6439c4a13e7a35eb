"""Ports (hexagonal architecture): what the system needs from outside, each a Protocol of few methods, a file per subject."""
