"""Canary credentials and secret scanning: everything that a test run wrote is searched for the credentials of its tests."""
