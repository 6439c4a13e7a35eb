"""The files of workspaces, as a function of their own: it may use one bucket, and has no key of a task, no store, no model."""

from ferryman.serving import files

main = files.serve()
