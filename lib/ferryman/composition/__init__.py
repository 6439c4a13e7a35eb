"""Composition roots: one for each deployed function, for embedded tools and for the operator; only they decide what is real."""
