"""The command line and the client, without a stack where none is needed."""
