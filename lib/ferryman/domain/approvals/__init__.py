"""Approvals: calls that wait for a person, bound to what would be sent by the hash of its canonical form (RFC 8785).

A decision is signed by the api, and the function that sends verifies the signature, no document: the store has no authority.
The hash is computed from the request about to leave, each time: where a byte is another one, the person is asked again.
Waiting is a document: the call's ticket, its approval, and an execution without lease, slot and reservation.
"""
