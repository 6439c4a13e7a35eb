"""Records: everything about an execution as one value, as JSON, and as events."""
