"""Receipts: a hash chain of signed entries about an execution; and the reports of key holders for them."""
