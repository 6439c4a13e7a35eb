"""Requests to the platform, mutated: whether one is accepted that was not signed as it is, or a good one refused."""
