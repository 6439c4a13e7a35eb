"""Tasks: what an owner wants done, the prompt that says so, and when it runs by itself."""
