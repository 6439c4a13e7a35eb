"""Approvals under attack: a byte that changes after a person approved, and decisions that nobody made."""
