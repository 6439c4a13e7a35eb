"""Watching: everyone who watches an execution in one process gets the same snapshots, read once for all of them.

What the model writes comes by a relay where this process has the execution delivered; otherwise it is read from the store,
which has it about once a second. A snapshot replaces all earlier ones: a slow watcher misses those between.
"""
