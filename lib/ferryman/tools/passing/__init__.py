"""Calls with references to results in their arguments: the loop puts the values in their places (`ferryman.loop.passing`)."""
