"""Tenants: owners at work on one stack at once, and the search for anything of one in anything of another."""
