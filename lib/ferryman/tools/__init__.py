"""Tools: their definitions, the parsing of their arguments (pure functions) and the execution of their calls."""
