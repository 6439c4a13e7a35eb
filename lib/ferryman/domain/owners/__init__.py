"""Owners: plans, limits, occupancy, idempotency keys, open streams."""
