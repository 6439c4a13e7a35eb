"""Tasks: the work that an owner defines, its prompt, and its schedule."""
