"""Declared: an owner's description of an HTTP endpoint, checked when it is stored, written as a request when it is called."""
