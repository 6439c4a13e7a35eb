"""Needles: the search of everything that a test run kept or said for the credentials it planted."""
