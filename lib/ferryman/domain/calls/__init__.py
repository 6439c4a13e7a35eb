"""Calls of tools: the ticket, its result, the limits on rates and repetition, the reasons to refuse."""
