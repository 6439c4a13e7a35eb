"""Consent: what is connected, stored, renewed and logged, with a real OAuth server on a simulated internet."""
