"""Declared tools: an owner's description of an HTTP endpoint, checked when stored, and turned into a request when called."""
