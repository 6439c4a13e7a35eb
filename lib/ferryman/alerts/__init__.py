"""Alerts of budgets, delivered: from the queue to a key holder, and again after a pause where their receiver fails."""
