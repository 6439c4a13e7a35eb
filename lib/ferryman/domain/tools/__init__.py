"""Tools as data: the definition that the model sees, and tools that owners declare."""
