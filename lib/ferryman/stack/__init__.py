"""The local stack: the local cloud in a process of its own, provisioned as the real one is, with every function running."""
