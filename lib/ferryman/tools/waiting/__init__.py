"""Waiting: tools whose calls are a moment in time. The execution is put into the queue until then, and nothing is held."""
