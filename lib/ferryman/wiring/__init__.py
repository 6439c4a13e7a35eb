"""Wiring: who gets what. One root per deployed unit and one for the local stack; nothing else decides what is real."""
