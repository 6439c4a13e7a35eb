"""Tools as data: the definition that the model reads, and tools that owners declare."""
