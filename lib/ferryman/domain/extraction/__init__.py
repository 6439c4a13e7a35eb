"""Extraction (dual LLM pattern): a quarantined model reads a value out of a text, of a shape that is known before."""
