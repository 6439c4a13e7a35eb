"""The modules that each function has imported: at its first answer, and after its first call. A table for each, in a file."""
