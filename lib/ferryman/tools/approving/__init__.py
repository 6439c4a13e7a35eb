"""Approving: whether a call that is about to leave waits for a person, and what authority it has to leave.

`confirming` is asked by the gate and by the calls of functions without keys, `authority` says what counts as approved, and
`digests` what a person's decision is bound to beside the request itself.
"""
