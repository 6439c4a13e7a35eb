"""Consent: what is connected, kept, renewed and told, at a real OAuth server on a pretend internet."""
