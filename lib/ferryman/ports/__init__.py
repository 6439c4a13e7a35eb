"""Ports: what the system asks of the world, each a Protocol of few methods, a file per noun."""
