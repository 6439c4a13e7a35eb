"""Conversations: what a person and an agent say to each other, as a tree of messages that never change.

A question and its answer are numbered together, when the question comes: so the parent of every message is known then, also
where the answer before it is still being written, and no stored message is ever changed. An edit or another answer is a branch.
"""
