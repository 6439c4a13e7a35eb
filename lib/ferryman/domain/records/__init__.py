"""Records: the account of an execution as one value, as JSON, and as events."""
