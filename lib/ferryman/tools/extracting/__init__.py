"""Values that a quarantined model reads out of results: the model that acts is told of them, and does not read them."""
