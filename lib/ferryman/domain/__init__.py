"""Values and rules: nothing in here performs I/O, and every layer above may import it."""
