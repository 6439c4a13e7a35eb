"""Declared: an owner's description of an HTTP endpoint, checked when stored, and written as a request when called."""
