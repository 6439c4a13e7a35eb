"""Egress filtering: every call that leaves the deployment passes the gate; each check has a file of its own."""
