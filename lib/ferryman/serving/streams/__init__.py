"""Streams: what a watcher of an answer is sent, in four formats that are projections of the same moments.

`following` derives the moments from what is stored and from the turn under way; a format makes at most one frame of each.
"""
