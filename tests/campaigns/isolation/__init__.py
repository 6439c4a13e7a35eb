"""Isolation: callers who ask for, use, guess, replay and enumerate what belongs to another owner, workspace or person.

The attempts come from the description of the API, so that a route which is new is attempted without being listed here. Each is
made three times: where the other's thing exists; in a deployment without the other, in which it does not; and with an id that
nobody has. All three answers have to be the same, byte for byte, and nothing of the other may be in any of them, or change.
"""
