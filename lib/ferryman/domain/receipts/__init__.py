"""Receipts: what an execution did, entry by entry, hash-chained and signed; and what a key holder reports for them."""
