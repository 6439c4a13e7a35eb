"""Calls of tools: the ticket, its outcome, the limits on rates and repetition, the reasons to refuse."""
