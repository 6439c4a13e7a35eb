"""Wiring: who gets what. One root per deployed unit and one for the local stack; nothing else chooses between double and cloud."""
