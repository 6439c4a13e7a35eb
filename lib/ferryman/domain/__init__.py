"""Values and rules of the house: nothing in here performs I/O, and everything above may import it."""
