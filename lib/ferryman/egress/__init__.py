"""Egress: the only way out of the house, each station of a call's journey in a file of its own."""
