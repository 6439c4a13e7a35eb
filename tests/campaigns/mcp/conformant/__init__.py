"""The client that the conformance suite runs: the product's own engine and authorization, over a gate for loopback addresses.

What is not the product's: the gate (`names.py` says how it differs), the person who consents and answers (`person.py`), and the
choice of the tools that are called (`__main__.py`).
"""
