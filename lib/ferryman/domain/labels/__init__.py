"""Labels: how far a value may be trusted, who may read it, and where it comes from (information flow)."""
